//! A server that takes encrypted connections alone.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::{PostgresServer, run, unprivileged};

impl PostgresServer {
    /// Makes it refuse connections in the clear, and gives the certificate of the authority that
    /// vouches for its address.
    ///
    /// # Panics
    /// Where that can't be done.
    pub fn encrypt(&self) -> PathBuf {
        let authority = authority();
        let key = KeyPair::generate().expect("a key");
        let server = CertificateParams::new(vec!["127.0.0.1".to_owned()]);
        let server = server
            .expect("an address")
            .signed_by(&key, &authority)
            .expect("a certificate");
        let file = |name: &str, text: &str| {
            let path = self.data().join(name);
            fs::write(&path, text).expect("a file of the server is written");
            run(Command::new("chmod").arg("600").arg(&path));
            run(Command::new("chown").arg(unprivileged()).arg(&path));
        };
        file("server.crt", &server.pem());
        file("server.key", &key.serialize_pem());
        file(
            "pg_hba.conf",
            "hostssl all all 127.0.0.1/32 scram-sha-256\n",
        );
        self.add_settings("ssl = on\n");
        self.restart("fast");
        let path = self.folder.join("authority.crt");
        fs::write(&path, authority.pem()).expect("the authority's certificate is written");
        path
    }

    /// The certificate of an authority that vouches for nobody.
    ///
    /// # Panics
    /// Where it can't be made.
    pub fn other_authority(&self) -> PathBuf {
        let path = self.folder.join("other-authority.crt");
        fs::write(&path, authority().pem()).expect("the certificate is written");
        path
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::self_signed(params, key).expect("a certificate")
}
