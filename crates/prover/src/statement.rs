//! PURE. What one server says about the texts of one name.

use std::net::IpAddr;

use dns::Name;

use crate::fault::Fault;
use crate::message::{Answer, Code, Data};

/// What a server says about a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Statement {
    /// These texts stand there, perhaps none.
    Texts(Vec<Vec<u8>>),
    /// It is another name for this one.
    Alias(Name),
}

/// Whose word counts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    /// That of servers that speak for this zone.
    Speaks(Name),
    /// That of resolvers, too: those of the operator.
    Believed,
}

/// Reads the answer to the question for the texts of `name`.
///
/// An answer may hold the whole chain of aliases; only its first link is read. The others may be in zones whose servers
/// would say something else.
pub(crate) fn read(answer: &Answer, name: &Name, standing: &Standing) -> Result<Statement, Fault> {
    let alias = answer.alias(name)?;
    // The code is about the end of the chain.
    if alias.is_none() {
        succeeded(answer)?;
    }
    let counts = match standing {
        Standing::Speaks(_) => answer.authoritative,
        // A server that neither knows nor asks others only points elsewhere.
        Standing::Believed => answer.authoritative || answer.recursive,
    };
    if !counts {
        let zone = match standing {
            Standing::Speaks(zone) => zone,
            Standing::Believed => name,
        };
        return Err(Fault::Lame(zone.clone()));
    }
    Ok(match alias {
        Some(target) => Statement::Alias(target.clone()),
        None => Statement::Texts(texts(answer, name)),
    })
}

/// A name that does not exist is an answer, too.
fn succeeded(answer: &Answer) -> Result<(), Fault> {
    match &answer.code {
        Code::NoError | Code::NxDomain => Ok(()),
        Code::Other(code) => Err(Fault::Code(code.clone())),
    }
}

fn texts(answer: &Answer, name: &Name) -> Vec<Vec<u8>> {
    let texts = answer
        .records
        .iter()
        .filter_map(|record| match &record.data {
            Data::Text(text) if record.owner == *name => Some(text.clone()),
            Data::Text(_) | Data::Alias(_) | Data::Server(_) | Data::Address(_) => None,
        });
    texts.collect()
}

/// Reads the answer to a question for the addresses of a host, by a server of `zone`. A host that is an alias has none
/// (RFC 2181 §10.3).
pub(crate) fn addresses(answer: &Answer, host: &Name, zone: &Name) -> Result<Vec<IpAddr>, Fault> {
    succeeded(answer)?;
    if !answer.authoritative {
        return Err(Fault::Lame(zone.clone()));
    }
    let addresses = answer
        .records
        .iter()
        .filter_map(|record| match record.data {
            Data::Address(address) if record.owner == *host => Some(address),
            Data::Address(_) | Data::Text(_) | Data::Alias(_) | Data::Server(_) => None,
        });
    Ok(addresses.collect())
}

#[cfg(test)]
mod tests;
