#if !__has_include(<openssl/evp.h>)
#error "libcrypto's headers are missing: apt install libssl-dev"
#endif
#define _GNU_SOURCE
#include "CCrypto.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

int crypto_sha256(const void *bytes, size_t count, uint8_t digest[32]) {
  return SHA256(bytes, count, digest) ? 0 : -1;
}

int crypto_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, uint8_t code[32]) {
  unsigned int length = 32;
  if (key_count > INT_MAX) return -1;
  return HMAC(EVP_sha256(), key, (int)key_count, bytes, count, code, &length) && length == 32 ? 0 : -1;
}

int crypto_equal(const void *one, const void *other, size_t count) { return CRYPTO_memcmp(one, other, count) == 0; }

int crypto_random(void *bytes, size_t count) {
  return count <= INT_MAX && RAND_bytes(bytes, (int)count) == 1 ? 0 : -1;
}
