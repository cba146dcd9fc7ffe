#define _GNU_SOURCE
#include "CCrypto.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

// The greatest number of authorities of a file, and of certificates between a client's and an authority.
enum { MOST_AUTHORITIES = 64, MOST_BETWEEN = 8 };

// Returns the certificates of a PEM text, or NULL if one of them is malformed, if there is none or if there are too many.
static STACK_OF(X509) *read_authorities(const void *pem, size_t count) {
  if (count > INT_MAX) return NULL;
  BIO *text = BIO_new_mem_buf(pem, (int)count);
  STACK_OF(X509) *list = sk_X509_new_null();
  int ok = text && list;
  while (ok) {
    // An empty password instead of a question on the terminal.
    X509 *x = PEM_read_bio_X509(text, NULL, NULL, "");
    if (!x) {
      unsigned long error = ERR_peek_last_error();
      ok = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
      break;
    }
    ok = sk_X509_num(list) < MOST_AUTHORITIES && sk_X509_push(list, x) > 0;
    if (!ok) X509_free(x);
  }
  ok = ok && sk_X509_num(list) > 0;
  BIO_free(text);
  ERR_clear_error();
  if (ok) return list;
  sk_X509_pop_free(list, X509_free);
  return NULL;
}

int crypto_count_authorities(const void *pem, size_t count) {
  STACK_OF(X509) *list = read_authorities(pem, count);
  int number = list ? sk_X509_num(list) : -1;
  sk_X509_pop_free(list, X509_free);
  return number;
}

static X509 *read_der(const uint8_t *bytes, size_t count) {
  if (count > LONG_MAX) return NULL;
  const unsigned char *at = bytes;
  X509 *x = d2i_X509(NULL, &at, (long)count);
  if (x && at == bytes + count) return x;
  X509_free(x);
  return NULL;
}

static int seconds(const ASN1_TIME *time, int64_t *result) {
  struct tm parts;
  if (!ASN1_TIME_to_tm(time, &parts)) return 0;
  *result = timegm(&parts);
  return 1;
}

// Narrows the result's dates to those of one certificate.
static int narrow(const X509 *x, struct crypto_client *result) {
  int64_t from, to;
  if (!seconds(X509_get0_notBefore(x), &from) || !seconds(X509_get0_notAfter(x), &to)) return 0;
  if (from > result->not_before) result->not_before = from;
  if (to < result->not_after) result->not_after = to;
  return 1;
}

static int verify(X509_STORE *store, X509 *leaf, STACK_OF(X509) *between, int64_t now, struct crypto_client *result) {
  X509_STORE_CTX *context = X509_STORE_CTX_new();
  int ok = context && X509_STORE_CTX_init(context, store, leaf, between);
  if (ok) {
    X509_VERIFY_PARAM *rules = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_time(rules, (time_t)now);
    X509_VERIFY_PARAM_set_depth(rules, MOST_BETWEEN);
    // 112 bits: no SHA-1, no RSA below 2048 bits.
    X509_VERIFY_PARAM_set_auth_level(rules, 2);
    // Every certificate of the file is trusted itself, an intermediate one too.
    ok = X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN)
      && X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_CLIENT);
  }
  if (ok && X509_verify_cert(context) == 1) {
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
    for (int index = 0; ok && index < sk_X509_num(chain); index++) ok = narrow(sk_X509_value(chain, index), result);
    result->error = ok ? 0 : X509_V_ERR_UNSPECIFIED;
  } else if (ok) {
    int error = X509_STORE_CTX_get_error(context);
    // A failure without a reason is a failure.
    result->error = error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error;
    X509 *at = X509_STORE_CTX_get_current_cert(context);
    if (at) (void)narrow(at, result);
  }
  X509_STORE_CTX_free(context);
  return ok;
}

int crypto_verify_client(
  const uint8_t *const *chain, const size_t *counts, size_t number, const void *authorities, size_t authority_count,
  int64_t now, struct crypto_client *result) {
  *result = (struct crypto_client){.not_before = INT64_MIN, .not_after = INT64_MAX, .error = X509_V_ERR_UNSPECIFIED};
  STACK_OF(X509) *roots = read_authorities(authorities, authority_count), *between = sk_X509_new_null();
  X509_STORE *store = X509_STORE_new();
  X509 *leaf = number > 0 ? read_der(chain[0], counts[0]) : NULL;
  int ok = roots && between && store && leaf;
  for (int index = 0; ok && index < sk_X509_num(roots); index++)
    ok = X509_STORE_add_cert(store, sk_X509_value(roots, index));
  for (size_t index = 1; ok && index < number; index++) {
    X509 *x = read_der(chain[index], counts[index]);
    ok = x && sk_X509_push(between, x) > 0;
    if (!ok) X509_free(x);
  }
  ok = ok && verify(store, leaf, between, now, result);
  if (ok && result->error != 0)
    strncpy(result->reason, X509_verify_cert_error_string(result->error), sizeof result->reason - 1);
  result->has_expired = result->error == X509_V_ERR_CERT_HAS_EXPIRED;
  result->is_too_early = result->error == X509_V_ERR_CERT_NOT_YET_VALID;
  X509_free(leaf);
  X509_STORE_free(store);
  sk_X509_pop_free(between, X509_free);
  sk_X509_pop_free(roots, X509_free);
  ERR_clear_error();
  return ok ? 0 : -1;
}

// Copies a text as UTF-8. Returns its length, or 0 if it has no such form or does not fit.
static int copy_text(const ASN1_STRING *text, char *name, size_t size) {
  unsigned char *bytes = NULL;
  int count = ASN1_STRING_to_UTF8(&bytes, text);
  int fits = count > 0 && (size_t)count <= size;
  if (fits) memcpy(name, bytes, (size_t)count);
  OPENSSL_free(bytes);
  return fits ? count : 0;
}

int crypto_certificate_name(const uint8_t *certificate, size_t count, int index, char *name, size_t size) {
  X509 *x = read_der(certificate, count);
  int result = -1;
  if (x && index == 0) {
    const X509_NAME *subject = X509_get_subject_name(x);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    result = at < 0 ? 0 : copy_text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), name, size);
  } else if (x) {
    GENERAL_NAMES *names = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
    if (names && index - 1 < sk_GENERAL_NAME_num(names)) {
      int kind;
      const ASN1_STRING *text = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, index - 1), &kind);
      result = kind == GEN_DNS || kind == GEN_EMAIL ? copy_text(text, name, size) : 0;
    }
    GENERAL_NAMES_free(names);
  }
  X509_free(x);
  ERR_clear_error();
  return result;
}
