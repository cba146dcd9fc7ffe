// What the service needs of the system's libcrypto, in plain types: hashes, comparison, random bytes, certificates.
// No function keeps state. All but crypto_equal return 0, or −1 when libcrypto refuses.
#pragma once
#include <stddef.h>
#include <stdint.h>

int crypto_sha256(const void *bytes, size_t count, uint8_t digest[32]);

/// Computes the HMAC with SHA-256 (RFC 2104). `key_count` is at most INT_MAX.
int crypto_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, uint8_t code[32]);

/// Returns whether both are the same, in a time that depends on `count` only.
int crypto_equal(const void *one, const void *other, size_t count);

/// Fills memory with unpredictable bytes. `count` is at most INT_MAX.
int crypto_random(void *bytes, size_t count);

/// Creates a self-signed certificate (X.509 v3, ECDSA on P-256, not a certificate authority, serverAuth) with its key in PKCS#8,
/// both as PEM with a final NUL. Each name is an IP address or else a DNS name; the first is also the common name. The dates are
/// seconds since 1970. Returns −2 if a buffer is too small.
int crypto_make_certificate(
  const char *const *names, size_t name_count, int64_t not_before, int64_t not_after, char *certificate,
  size_t certificate_size, char *key, size_t key_size);

/// Examines a PEM certificate: returns its end in seconds since 1970 and the SHA-256 of its DER bytes. The result is −1 also if
/// `key` (PEM) is not its private key.
int crypto_examine_certificate(
  const void *certificate, size_t certificate_count, const void *key, size_t key_count, int64_t *not_after,
  uint8_t fingerprint[32]);

/// Returns the number of certificates in a PEM text of trusted authorities, or −1 if there is none, if there are more than 64 or
/// if one is malformed.
int crypto_count_authorities(const void *pem, size_t count);

/// What `crypto_verify_client` has found.
struct crypto_client {
  /// The time in which the whole chain is valid, in seconds since 1970; after a failure, that of the certificate that failed.
  int64_t not_before, not_after;
  /// Whether a certificate was over, or had not begun.
  int has_expired, is_too_early;
  /// 0 if an authority has signed the client's certificate, and libcrypto's reason otherwise.
  int error;
  /// The reason in words, with a final NUL.
  char reason[128];
};

/// Verifies a client's certificate, the first of `number`, by those behind it and by the trusted authorities (PEM), at the time `now`
/// in seconds since 1970. All but the authorities are in DER. The certificate must be fit for a client of TLS. Returns −1, with
/// an `error` too, if one of the certificates cannot be read.
int crypto_verify_client(
  const uint8_t *const *chain, const size_t *counts, size_t number, const void *authorities, size_t authority_count,
  int64_t now, struct crypto_client *result);

/// Copies a name of a certificate (DER) as UTF-8: the subject's common name for `index` 0, its alternative names after that.
/// Returns the name's length in bytes, 0 if there is no text of at most `size` bytes there, or −1 behind the last name.
int crypto_certificate_name(const uint8_t *certificate, size_t count, int index, char *name, size_t size);
