//! TLS 1.3 as in the field, with one certificate for all runs: Ed25519, whose signatures have one length, and no dates.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use std::sync::Arc;

/// Of the key below; openssl req -x509 -subj /CN=localhost -set_serial 1.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");

/// PKCS 8 of an Ed25519 key of 32 bytes of 7: everyone has it, nothing is kept secret by it.
const KEY: [u8; 48] = {
    const HEAD: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let mut key = [7; 48];
    let mut place = 0;
    while place < HEAD.len() {
        key[place] = HEAD[place];
        place += 1;
    }
    key
};

/// A server with the ciphers of a provider.
pub fn server(provider: CryptoProvider) -> Result<ServerConfig, Error> {
    let key = PrivatePkcs8KeyDer::from(KEY.to_vec()).into();
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// A client with the ciphers of a provider.
pub fn client(provider: CryptoProvider) -> Result<ClientConfig, Error> {
    let provider = Arc::new(provider);
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(OneCertificate(provider)))
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// Accepts the one certificate at any time.
#[derive(Debug)]
struct OneCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for OneCertificate {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if certificate.as_ref() == CERTIFICATE {
            return Ok(ServerCertVerified::assertion());
        }
        Err(Error::General("another certificate".into()))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
