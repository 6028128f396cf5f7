//! What went wrong, sorted by what can be done next. Pure.

use std::error::Error as StdError;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_route53::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use provider::Error;

/// How long an account rests that has asked too much. Route 53 does not say; in two seconds it gives ten requests.
const REST: Duration = Duration::from_secs(2);

/// A call that is made of Route 53.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    ListZones,
    ListSets,
    ChangeSets,
}

/// What Route 53 says in an error, without the number of the request.
#[derive(Debug, thiserror::Error)]
#[error("{}, {code}: {message}", call.failed())]
struct Said {
    call: Call,
    code: String,
    message: String,
}

/// Whatever was answered, it is not clear what it means.
pub(super) fn unclear(error: impl StdError + Send + Sync + 'static) -> Error {
    Error::Unclear(Box::new(error))
}

/// What can be done next.
pub(super) fn sorted<E>(call: Call, error: SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    let SdkError::ServiceError(answer) = &error else {
        return if is_nobody(&error) {
            Error::Denied(Box::new(error))
        } else {
            unclear(error)
        };
    };
    let status = answer.raw().status().as_u16();
    let Some(code) = answer.err().code() else {
        return by_status(status, error);
    };
    let message = stable(answer.err().message().unwrap_or_default());
    let said = Said {
        call,
        code: code.to_owned(),
        message,
    };
    said.sorted(status)
}

/// Whether nothing was asked, because this process is nobody to Amazon.
fn is_nobody(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    let found = causes.find_map(|error| error.downcast_ref::<CredentialsError>());
    matches!(
        found,
        Some(CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_))
    )
}

/// What answers in words that are not Route 53's is something in between.
fn by_status(status: u16, error: impl StdError + Send + Sync + 'static) -> Error {
    match status {
        401 | 403 => Error::Denied(Box::new(error)),
        429 => Error::Throttled { after: REST },
        _ => unclear(error),
    }
}

impl Call {
    /// That it did not come about, in the words of Kuadrant's operator, which people search for.
    fn failed(self) -> &'static str {
        match self {
            Call::ListZones => "failed to list hosted zones",
            Call::ListSets => "failed to list resource record sets",
            Call::ChangeSets => "failed to change resource record sets",
        }
    }
}

impl Said {
    fn sorted(self, status: u16) -> Error {
        match self.code.as_str() {
            "Throttling"
            | "ThrottlingException"
            | "PriorRequestNotComplete"
            | "RequestLimitExceeded"
            | "TooManyRequestsException" => Error::Throttled { after: REST },
            "NoSuchHostedZone" => Error::Missing,
            "InvalidChangeBatch" if self.is_about_what_was_expected() => Error::Stale,
            "AccessDenied"
            | "AccessDeniedException"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "IncompleteSignature"
            | "InvalidClientTokenId"
            | "InvalidSignatureException"
            | "MissingAuthenticationToken"
            | "NotAuthorizedException"
            | "OptInRequired"
            | "SignatureDoesNotMatch"
            | "UnrecognizedClientException" => Error::Denied(Box::new(self)),
            _ if status >= 500 => unclear(self),
            _ => by_status_or_refused(status, self),
        }
    }

    /// Whether a set was not as expected. If more was wrong, that is seen when it is tried with what is there now.
    fn is_about_what_was_expected(&self) -> bool {
        [
            "but it was not found",
            "but it already exists",
            "but the values provided do not match",
        ]
        .iter()
        .any(|words| self.message.contains(words))
    }
}

fn by_status_or_refused(status: u16, said: Said) -> Error {
    match status {
        401 | 403 | 429 => by_status(status, said),
        _ => Error::Refused {
            reason: said.message,
        },
    }
}

/// The message without what differs from one attempt to the next, and without the brackets around a list of one.
fn stable(message: &str) -> String {
    let list = message
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'));
    let mut text = list.unwrap_or(message).to_owned();
    for label in ["request id:", "requestid:"] {
        while let Some(start) = text.to_ascii_lowercase().find(label) {
            let behind = &text[start + label.len()..];
            let number = behind.trim_start();
            let length = number.find([' ', ',', ';', ')', ']']);
            let end = text.len() - number.len() + length.unwrap_or(number.len());
            text.replace_range(start..end, "");
        }
    }
    let text = text.replace("()", "");
    text.trim_end_matches([' ', ',', ';', ':']).to_owned()
}

#[cfg(test)]
mod tests {
    use aws_sdk_route53::error::ConnectorError;
    use aws_sdk_route53::operation::list_hosted_zones::ListHostedZonesError;

    use super::*;

    /// What becomes of an answer, in one word, and what people are told.
    fn check(status: u16, code: &str, message: &str) -> (&'static str, String) {
        let said = Said {
            call: Call::ListZones,
            code: code.to_owned(),
            message: stable(message),
        };
        let error = said.sorted(status);
        let word = match &error {
            Error::Throttled { .. } => "throttled",
            Error::Stale => "stale",
            Error::Missing => "missing",
            Error::Denied(_) => "denied",
            Error::Refused { .. } => "refused",
            Error::Unclear(_) => "unclear",
        };
        (word, error.story())
    }

    #[test]
    fn answers_are_sorted_by_what_can_be_done_next() {
        let cases = [
            (400, "Throttling", "Rate exceeded", "throttled"),
            (400, "ThrottlingException", "Rate exceeded", "throttled"),
            (400, "PriorRequestNotComplete", "", "throttled"),
            (429, "Anything", "", "throttled"),
            (
                404,
                "NoSuchHostedZone",
                "No hosted zone found with ID: Z1",
                "missing",
            ),
            (403, "AccessDenied", "User: arn is not authorized", "denied"),
            (403, "InvalidClientTokenId", "", "denied"),
            (403, "SignatureDoesNotMatch", "", "denied"),
            (400, "ExpiredToken", "", "denied"),
            (403, "Novel", "", "denied"),
            (400, "InvalidInput", "Invalid request", "refused"),
            (
                400,
                "InvalidChangeBatch",
                "[RRSet of type CNAME …]",
                "refused",
            ),
            (500, "InternalFailure", "", "unclear"),
            (503, "ServiceUnavailable", "", "unclear"),
        ];
        for (status, code, message, word) in cases {
            assert_eq!(check(status, code, message).0, word, "{status} {code}");
        }
    }

    #[test]
    fn whoever_is_nobody_to_amazon_is_denied() {
        let asked_as = |credentials: CredentialsError| {
            let failure = ConnectorError::other(Box::new(credentials), None);
            sorted::<ListHostedZonesError>(Call::ListZones, SdkError::dispatch_failure(failure))
        };
        let nobody = asked_as(CredentialsError::not_loaded("nothing is set"));
        assert_eq!(
            nobody.story(),
            "access is denied: dispatch failure: other: the credential provider was not enabled: nothing is set"
        );
        let elsewhere = asked_as(CredentialsError::provider_error("STS is down"));
        assert!(matches!(elsewhere, Error::Unclear(_)), "{elsewhere:?}");
    }

    #[test]
    fn a_set_that_is_not_as_expected_is_stale() {
        for message in [
            "[Tried to create resource record set [name='a.', type='A'] but it already exists]",
            "[Tried to delete resource record set [name='a.', type='A'] but it was not found]",
            "[Tried to delete resource record set [name='a.', type='A'] but the values provided do not match the current \
             values]",
            // What else is wrong is seen with what is there now.
            "[RRSet of type CNAME …, Tried to delete resource record set [name='a.', type='A'] but it was not found]",
        ] {
            assert_eq!(
                check(400, "InvalidChangeBatch", message).0,
                "stale",
                "{message}"
            );
        }
    }

    #[test]
    fn what_people_are_told_does_not_differ_from_one_attempt_to_the_next() {
        for (message, told) in [
            ("[one thing, another]", "one thing, another"),
            ("[name='a.'] is wrong", "[name='a.'] is wrong"),
            ("is wrong (request id: 0a-1b)", "is wrong"),
            ("is wrong, Request ID: 0a-1b, RequestId: 2c", "is wrong"),
            ("is wrong (RequestID: 0a-1b) indeed", "is wrong  indeed"),
            ("is wrong; request id:", "is wrong"),
        ] {
            assert_eq!(stable(message), told, "{message}");
        }
    }
}
