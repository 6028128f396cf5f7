//! Every behaviour, on a double that keeps Route 53's rules.

use crate::stage::doubled;

provider::battery!(doubled);
