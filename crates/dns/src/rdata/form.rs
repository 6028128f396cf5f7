//! What each type's data looks like, for error messages.

use super::RdataError;
use crate::Rtype;

/// Turns the reader's complaint into one that shows the right form.
pub(super) fn explain(rtype: Rtype, why: &str) -> RdataError {
    match form(rtype) {
        Some(form) => RdataError::Syntax {
            rtype,
            form,
            why: plain(why),
        },
        None => RdataError::GenericOnly(rtype),
    }
}

/// The same for data in the generic form, which is that of every type.
pub(super) fn explain_generic(rtype: Rtype, why: &str) -> RdataError {
    RdataError::Syntax {
        rtype,
        form: "\\# <length in octets> <hex> in the generic form of RFC 3597",
        why: plain(why),
    }
}

/// The reader's words for a person who does not know it.
fn plain(why: &str) -> String {
    match why {
        "bad charstr" => "a string has more than 255 octets",
        "bad symbol: illegal escape sequence" => {
            "a backslash is followed by neither one ASCII character nor three digits up to 255"
        }
        "decimal number overflow" => "a number is too large",
        "generic data has incorrect length" => "the length is not that of the data",
        // The library's alphabet lacks two characters, and not by design.
        "invalid SvcParamKey" => {
            "a key with other characters than a to y, 0 to 8 and hyphens needs the generic form"
        }
        "short buffer" | "unexpected end of entry" => "something is missing",
        "trailing tokens" => "there is more than that",
        "TXT record is too long" => "it has more than 65535 octets",
        _ => why,
    }
    .to_owned()
}

/// The form of a type's data with an example; `None` where the library knows
/// the type by its number only.
fn form(rtype: Rtype) -> Option<&'static str> {
    Some(match rtype {
        Rtype::A => "an IPv4 address such as 192.0.2.1",
        Rtype::AAAA => "an IPv6 address such as 2001:db8::1",
        Rtype::CNAME | Rtype::DNAME | Rtype::NS | Rtype::PTR => "one name such as www.example.org.",
        Rtype::MX => "<preference> <mail server> such as 10 mail.example.org.",
        Rtype::TXT => "one or more strings of at most 255 octets such as \"v=spf1 -all\"",
        Rtype::SRV => "<priority> <weight> <port> <target> such as 0 5 5060 sip.example.org.",
        Rtype::CAA => "<flags> <tag> <value> such as 0 issue \"ca.example.net\"",
        Rtype::SVCB | Rtype::HTTPS => "<priority> <target> [<key>=<value>]… such as 1 . alpn=h2",
        Rtype::TLSA => "<usage> <selector> <matching type> <hex> such as 3 1 1 d2abde24…",
        Rtype::SSHFP => "<algorithm> <fingerprint type> <hex> such as 4 2 123456…",
        Rtype::DS | Rtype::CDS => {
            "<key tag> <algorithm> <digest type> <hex> such as 60485 13 2 d4b7…"
        }
        Rtype::DNSKEY | Rtype::CDNSKEY => {
            "<flags> 3 <algorithm> <base64> such as 257 3 13 mdsswUyr…"
        }
        Rtype::NAPTR => "<order> <preference> <flags> <service> <regexp> <replacement>",
        Rtype::HINFO => "<cpu> <os>, two strings",
        Rtype::RP => "<mailbox> <txt name>, two names",
        Rtype::SOA => "<mname> <rname> <serial> <refresh> <retry> <expire> <minimum>",
        Rtype::OPENPGPKEY => "a key in base64",
        Rtype::IPSECKEY => "<precedence> <gateway type> <algorithm> <gateway> [<base64>]",
        Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM | Rtype::ZONEMD => {
            "the form its RFC gives"
        }
        _ if is_old_mail_type(rtype) => "the form RFC 1035 gives",
        _ => return None,
    })
}

/// MD, MF, MB, MG, MR and MINFO of RFC 1035.
pub(super) fn is_old_mail_type(rtype: Rtype) -> bool {
    matches!(rtype.to_int(), 3 | 4 | 7 | 8 | 9 | 14)
}
