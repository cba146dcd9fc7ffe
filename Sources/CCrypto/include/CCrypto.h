// What the service needs of the system's libcrypto, in plain types: hashes, comparison, random bytes, certificates.
// No function keeps state. All but crypto_equal return 0, or −1 when libcrypto refuses.
#pragma once
#include <stddef.h>
#include <stdint.h>

int crypto_sha256(const void *bytes, size_t count, uint8_t digest[32]);

/// HMAC with SHA-256 (RFC 2104). `key_count` at most INT_MAX.
int crypto_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, uint8_t code[32]);

/// Whether both are the same, in a time that depends on `count` only.
int crypto_equal(const void *one, const void *other, size_t count);

/// Bytes that nobody can predict. `count` at most INT_MAX.
int crypto_random(void *bytes, size_t count);

/// A self-signed certificate (X.509 v3, ECDSA on P-256, not a certificate authority, serverAuth) with its key in PKCS#8, both
/// as PEM with a final NUL. Each name is an IP address or else a DNS name; the first is the common name too. The dates are
/// seconds since 1970. −2: a buffer is too small.
int crypto_make_certificate(
  const char *const *names, size_t name_count, int64_t not_before, int64_t not_after, char *certificate,
  size_t certificate_size, char *key, size_t key_size);

/// Of a PEM certificate: when it ends (seconds since 1970), and the SHA-256 of its DER bytes. −1 too when `key` (PEM) is not
/// its private key.
int crypto_examine_certificate(
  const void *certificate, size_t certificate_count, const void *key, size_t key_count, int64_t *not_after,
  uint8_t fingerprint[32]);
