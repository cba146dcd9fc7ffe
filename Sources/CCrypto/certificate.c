#if !__has_include(<openssl/x509v3.h>)
#error "libcrypto's headers are missing: apt install libssl-dev"
#endif
#define _GNU_SOURCE
#include "CCrypto.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

static int add_extension(X509 *x, int nid, const char *value) {
  X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, NULL, nid, value);
  int ok = extension && X509_add_ext(x, extension, -1);
  X509_EXTENSION_free(extension);
  return ok;
}

// Built from values: in libcrypto's own text form a comma in a name would begin another name.
static int add_names(X509 *x, const char *const *names, size_t count) {
  GENERAL_NAMES *list = sk_GENERAL_NAME_new_null();
  int ok = list != NULL;
  for (size_t index = 0; ok && index < count; index++) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(names[index]);
    ASN1_IA5STRING *text = address ? NULL : ASN1_IA5STRING_new();
    ok = name && (address || (text && ASN1_STRING_set(text, names[index], -1)));
    if (ok) {
      GENERAL_NAME_set0_value(name, address ? GEN_IPADD : GEN_DNS, address ? (void *)address : (void *)text);
      ok = sk_GENERAL_NAME_push(list, name) > 0;
    } else {
      ASN1_OCTET_STRING_free(address);
      ASN1_IA5STRING_free(text);
    }
    if (!ok) GENERAL_NAME_free(name);
  }
  ok = ok && X509_add1_ext_i2d(x, NID_subject_alt_name, list, 0, X509V3_ADD_DEFAULT) == 1;
  GENERAL_NAMES_free(list);
  return ok;
}

static int fill(
  X509 *x, EVP_PKEY *pair, const char *const *names, size_t count, int64_t not_before, int64_t not_after) {
  // Positive in DER, never 0.
  uint64_t serial;
  if (RAND_bytes((unsigned char *)&serial, sizeof serial) != 1) return 0;
  serial |= 1;
  // The standard allows a common name of 64 characters.
  char common[65];
  strncpy(common, names[0], 64);
  common[64] = 0;
  X509_NAME *subject = X509_NAME_new();
  int ok = subject && X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, (unsigned char *)common, -1, -1, 0)
    && X509_set_version(x, 2) && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial)
    && ASN1_TIME_adj(X509_getm_notBefore(x), (time_t)not_before, 0, 0)
    && ASN1_TIME_adj(X509_getm_notAfter(x), (time_t)not_after, 0, 0) && X509_set_subject_name(x, subject)
    && X509_set_issuer_name(x, subject) && X509_set_pubkey(x, pair)
    && add_extension(x, NID_basic_constraints, "critical,CA:FALSE")
    && add_extension(x, NID_key_usage, "critical,digitalSignature") && add_extension(x, NID_ext_key_usage, "serverAuth")
    && add_names(x, names, count) && X509_sign(x, pair, EVP_sha256()) > 0;
  X509_NAME_free(subject);
  return ok;
}

// What a memory BIO holds, with a final NUL.
static int copy(BIO *bio, char *text, size_t size) {
  char *bytes;
  long count = BIO_get_mem_data(bio, &bytes);
  if (count <= 0) return -1;
  if ((size_t)count >= size) return -2;
  memcpy(text, bytes, (size_t)count);
  text[count] = 0;
  return 0;
}

int crypto_make_certificate(
  const char *const *names, size_t name_count, int64_t not_before, int64_t not_after, char *certificate,
  size_t certificate_size, char *key, size_t key_size) {
  if (name_count == 0) return -1;
  EVP_PKEY *pair = EVP_EC_gen("P-256");
  X509 *x = X509_new();
  BIO *x_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_secmem());
  int result = -1;
  if (pair && x && x_text && key_text && fill(x, pair, names, name_count, not_before, not_after)
      && PEM_write_bio_X509(x_text, x) && PEM_write_bio_PKCS8PrivateKey(key_text, pair, NULL, NULL, 0, NULL, NULL)) {
    result = copy(x_text, certificate, certificate_size);
    if (result == 0) result = copy(key_text, key, key_size);
  }
  BIO_free(key_text);
  BIO_free(x_text);
  X509_free(x);
  EVP_PKEY_free(pair);
  ERR_clear_error();
  return result;
}

int crypto_examine_certificate(
  const void *certificate, size_t certificate_count, const void *key, size_t key_count, int64_t *not_after,
  uint8_t fingerprint[32]) {
  if (certificate_count > INT_MAX || key_count > INT_MAX) return -1;
  BIO *x_text = BIO_new_mem_buf(certificate, (int)certificate_count);
  BIO *key_text = BIO_new_mem_buf(key, (int)key_count);
  // An empty password instead of a question on the terminal.
  X509 *x = x_text ? PEM_read_bio_X509(x_text, NULL, NULL, "") : NULL;
  EVP_PKEY *pair = key_text ? PEM_read_bio_PrivateKey(key_text, NULL, NULL, "") : NULL;
  struct tm end;
  unsigned int length = 32;
  int ok = x && pair && X509_check_private_key(x, pair) == 1 && ASN1_TIME_to_tm(X509_get0_notAfter(x), &end)
    && X509_digest(x, EVP_sha256(), fingerprint, &length) && length == 32;
  if (ok) *not_after = timegm(&end);
  EVP_PKEY_free(pair);
  X509_free(x);
  BIO_free(key_text);
  BIO_free(x_text);
  ERR_clear_error();
  return ok ? 0 : -1;
}
