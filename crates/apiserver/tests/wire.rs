//! Protocol buffers are Kubernetes' own, octet for octet, for every kind: a program that is made of its sources writes
//! objects by chance and reads them back. It is in `conformance/wire`.

mod on_cluster {
    use std::path::PathBuf;
    use std::process::Command;

    use serde_json::Value;
    use testkit::control_plane::clients;
    use wire::{TypeMeta, decode, encode};

    /// What the objects are drawn from.
    const SEEDS: [&str; 3] = ["1", "2", "3"];

    /// How many of each kind. The first is empty.
    const EACH: &str = "12";

    fn kubernetes(arguments: &[&str]) -> String {
        let program: PathBuf =
            clients::wire().unwrap_or_else(|error| panic!("no clients: {error}"));
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    fn octets(hex: &str) -> Vec<u8> {
        let octet = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(octet).collect()
    }

    #[test]
    fn the_table_is_what_kubernetes_types_say() {
        let table = include_str!("../../wire/src/facts.txt");
        let told = kubernetes(&["facts"]);
        let differs = table
            .lines()
            .zip(told.lines())
            .find(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "run `cargo xtask generate`");
        assert!(table == told, "run `cargo xtask generate`");
    }

    #[test]
    fn objects_by_chance_are_written_and_read_as_kubernetes_does() {
        for seed in SEEDS {
            let lines = kubernetes(&["objects", seed, EACH]);
            assert!(lines.lines().count() > 1_000);
            for line in lines.lines() {
                let [kind, written, from, to] = *line.split('\t').collect::<Vec<_>>() else {
                    panic!("{line}");
                };
                let from: Value = serde_json::from_str(from).unwrap();
                let to: Value = serde_json::from_str(to).unwrap();
                let ours = encode(&from).map(|octets| hex(&octets));
                assert_eq!(ours.as_deref(), Some(written), "{kind}: {from}");
                let ours = decode(&octets(written), TypeMeta::default());
                assert_eq!(ours, Ok(to), "{kind}: {written}");
            }
        }
    }
}
