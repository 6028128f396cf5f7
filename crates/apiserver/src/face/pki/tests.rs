//! What is on the disk after a start, a restart, a long time, and an accident.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;

use jiff::SignedDuration;
use tempfile::TempDir;

use super::*;

const HOME: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn noon() -> Timestamp {
    "2030-01-01T12:00:00Z".parse().unwrap()
}

fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

struct Disk(TempDir);

impl Disk {
    /// A directory with everything that a first start makes.
    fn started() -> Self {
        let disk = Self(TempDir::new().unwrap());
        disk.start(noon()).unwrap();
        disk
    }

    fn pki(&self) -> PathBuf {
        self.0.path().join("data/pki")
    }

    /// The texts of all that a start reads or makes.
    fn start(&self, now: Timestamp) -> Result<[String; 5], PkiError> {
        self.start_at(HOME, now)
    }

    fn start_at(&self, address: IpAddr, now: Timestamp) -> Result<[String; 5], PkiError> {
        let pki = Pki::open(Some(self.pki()), now)?;
        Ok([
            pki.authority().pem.clone(),
            pki.serving(address, now)?.certificate_pem,
            pki.admin(now)?.certificate_pem,
            pki.admin_token()?,
            format!("{:?}", pki.tokens()?),
        ])
    }

    fn damage(&self, name: &str, change: impl FnOnce(String) -> String) {
        let path = self.pki().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, change(text)).unwrap();
    }

    /// The message of a start that must fail, without the directory's own name.
    fn refusal(&self) -> String {
        let message = self.start(noon()).unwrap_err().to_string();
        message.replace(self.pki().to_str().unwrap(), "pki")
    }
}

#[test]
fn a_restart_finds_everything_as_it_was() {
    let disk = Disk::started();
    let again = disk.start(noon()).unwrap();
    assert_eq!(disk.start(noon() + days(200)).unwrap(), again);
}

#[test]
fn nobody_but_the_owner_may_look() {
    let disk = Disk::started();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&disk.pki()), 0o700);
    assert_eq!(mode(disk.pki().parent().unwrap()), 0o700);
    let files: Vec<PathBuf> = fs::read_dir(disk.pki())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 6, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn certificates_are_renewed_after_two_thirds_of_their_life_and_the_authority_stays() {
    let disk = Disk::started();
    let first = disk.start(noon()).unwrap();
    let early = disk.start(noon() + days(243)).unwrap();
    assert_eq!(early, first);
    let later = disk.start(noon() + days(244)).unwrap();
    assert_eq!(later[0], first[0]);
    assert_ne!(later[1], first[1]);
    assert_ne!(later[2], first[2]);
    assert_eq!(later[3..], first[3..]);
    assert_eq!(disk.start(noon() + days(244)).unwrap(), later);
}

#[test]
fn a_clock_that_was_set_back_gets_certificates_that_are_good_now() {
    let disk = Disk::started();
    let ahead = disk.start(noon() + days(300)).unwrap();
    let back = disk.start(noon() + days(1)).unwrap();
    assert_eq!(back[0], ahead[0]);
    assert_ne!(back[1], ahead[1]);
    assert_ne!(back[2], ahead[2]);
}

#[test]
fn another_address_gets_another_serving_certificate_only() {
    let disk = Disk::started();
    let first = disk.start(noon()).unwrap();
    let address = "192.0.2.7".parse().unwrap();
    let moved = disk.start_at(address, noon()).unwrap();
    assert_ne!(moved[1], first[1]);
    assert_eq!(moved[2], first[2]);
    assert_eq!(disk.start_at(address, noon()).unwrap(), moved);
}

#[test]
fn the_serving_certificate_is_for_every_name_we_are_reached_by() {
    let names = |address: &str| serving_names(address.parse().unwrap());
    let common = [
        "127.0.0.1",
        "::1",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "localhost",
    ];
    let common: BTreeSet<String> = common.map(str::to_owned).into();
    assert_eq!(names("127.0.0.1"), common);
    assert_eq!(names("0.0.0.0"), common);
    let with = |name: &str| common.union(&[name.to_owned()].into()).cloned().collect();
    assert_eq!(names("192.0.2.7"), with("192.0.2.7"));
    assert_eq!(names("2001:db8::7"), with("2001:db8::7"));
}

#[test]
fn a_removed_leaf_or_secret_is_made_again() {
    let disk = Disk::started();
    let first = disk.start(noon()).unwrap();
    for name in [
        "serving.pem",
        "admin.pem",
        "admin.token",
        "service-account.key",
    ] {
        fs::remove_file(disk.pki().join(name)).unwrap();
    }
    let second = disk.start(noon()).unwrap();
    assert_eq!(second[0], first[0]);
    for (second, first) in second[1..].iter().zip(&first[1..]) {
        assert_ne!(second, first);
    }
}

#[test]
fn an_authority_is_never_replaced_by_itself() {
    let restore = "restore it from a backup, or remove pki to make a new authority \
        (every kubeconfig has to be handed out again)";
    for name in ["ca.crt", "ca.key"] {
        let disk = Disk::started();
        fs::remove_file(disk.pki().join(name)).unwrap();
        assert_eq!(
            disk.refusal(),
            format!("pki/{name}: it is missing; {restore}")
        );
        fs::write(disk.pki().join(name), "").unwrap();
        let refusal = disk.refusal();
        assert!(
            refusal.starts_with(&format!("pki/{name}: no ")),
            "{refusal}"
        );
        assert!(refusal.ends_with(restore), "{refusal}");
    }
}

#[test]
fn half_a_file_is_told_from_a_whole_one() {
    for name in [
        "ca.crt",
        "ca.key",
        "serving.pem",
        "admin.pem",
        "admin.token",
        "service-account.key",
    ] {
        let disk = Disk::started();
        disk.damage(name, |text| text[..text.len() / 2].to_owned());
        let refusal = disk.refusal();
        assert!(refusal.starts_with(&format!("pki/{name}: ")), "{refusal}");
    }
}

#[test]
fn a_key_of_someone_else_is_refused() {
    let (disk, other) = (Disk::started(), Disk::started());
    fs::copy(other.pki().join("ca.key"), disk.pki().join("ca.key")).unwrap();
    let refusal = disk.refusal();
    assert!(
        refusal.starts_with("pki/ca.key: it does not belong to the certificate; "),
        "{refusal}"
    );

    let disk = Disk::started();
    let theirs = fs::read_to_string(other.pki().join("admin.pem")).unwrap();
    disk.damage("admin.pem", |ours| {
        let (key, _) = theirs.split_once("-----BEGIN CERTIFICATE").unwrap();
        let (_, certificate) = ours.split_once("-----BEGIN CERTIFICATE").unwrap();
        format!("{key}-----BEGIN CERTIFICATE{certificate}")
    });
    assert_eq!(
        disk.refusal(),
        "pki/admin.pem: the key does not belong to the certificate; remove the file to have a new one made: \
         whoever holds the old one is then locked out"
    );
}

#[test]
fn a_certificate_of_another_authority_is_replaced() {
    let (disk, other) = (Disk::started(), Disk::started());
    let first = disk.start(noon()).unwrap();
    for name in ["ca.crt", "ca.key"] {
        fs::copy(other.pki().join(name), disk.pki().join(name)).unwrap();
    }
    let second = disk.start(noon()).unwrap();
    assert_ne!(second[1], first[1]);
    assert_ne!(second[2], first[2]);
}

#[test]
fn a_leaf_in_place_of_the_authority_is_refused() {
    let disk = Disk::started();
    let leaf = fs::read_to_string(disk.pki().join("admin.pem")).unwrap();
    disk.damage("ca.crt", |_| leaf);
    let refusal = disk.refusal();
    assert!(
        refusal.starts_with("pki/ca.crt: it may not issue certificates; "),
        "{refusal}"
    );
}

#[test]
fn an_authority_out_of_its_time_is_refused() {
    let disk = Disk::started();
    for (now, problem) in [
        (
            noon() + days(3651),
            "it expired at 2039-12-30T12:00:00Z, and now it is 2039-12-31T12:00:00Z",
        ),
        (
            noon() - days(1),
            "it is valid from 2030-01-01T11:00:00Z, and now it is 2029-12-31T12:00:00Z",
        ),
    ] {
        let message = disk.start(now).unwrap_err().to_string();
        assert!(
            message.contains(&format!("ca.crt: {problem}; set the machine's clock")),
            "{message}"
        );
    }
    disk.start(noon() + days(3649)).unwrap();
}

#[test]
fn nothing_outlives_the_authority() {
    let disk = Disk::started();
    let late = noon() + days(3640);
    let pki = Pki::open(Some(disk.pki()), late).unwrap();
    let leaf = pki.serving(HOME, late).unwrap();
    let parsed = x509::parse(&leaf.certificate).unwrap();
    let until = parsed.validity().not_after.timestamp();
    assert_eq!(until, (noon() + days(3650)).as_second());
}

#[test]
fn a_start_that_was_cut_off_leaves_nothing_in_the_way() {
    let disk = Disk(TempDir::new().unwrap());
    let unfinished = disk.pki().with_extension("new");
    fs::create_dir_all(&unfinished).unwrap();
    fs::write(unfinished.join("ca.key"), "half").unwrap();
    disk.start(noon()).unwrap();
    assert!(!unfinished.exists());
}

#[test]
fn without_a_directory_everything_lasts_as_long_as_the_process() {
    let pki = Pki::open(None, noon()).unwrap();
    let admin = pki.admin(noon()).unwrap().certificate_pem;
    assert_eq!(pki.admin(noon()).unwrap().certificate_pem, admin);
    assert_ne!(
        pki.admin(noon() + days(300)).unwrap().certificate_pem,
        admin
    );
    assert_eq!(pki.admin_token().unwrap(), pki.admin_token().unwrap());
    let other = Pki::open(None, noon()).unwrap();
    assert_ne!(other.authority().pem, pki.authority().pem);
}
