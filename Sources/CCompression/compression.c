#include "CCompression.h"

#include <limits.h>
#include <zlib.h>

size_t compression_gzip(const void *bytes, size_t count, void *gzip, size_t capacity) {
  // 15 is the greatest window; 16 more make the format gzip instead of zlib.
  enum { window_bits = 15 + 16, memory_level = 8 };
  z_stream stream = {0};
  if (count > UINT_MAX || capacity > UINT_MAX) return 0;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  stream.next_in = (Bytef *)bytes;
  stream.avail_in = (uInt)count;
  stream.next_out = gzip;
  stream.avail_out = (uInt)capacity;
  int result = deflate(&stream, Z_FINISH);
  size_t length = result == Z_STREAM_END ? capacity - stream.avail_out : 0;
  deflateEnd(&stream);
  return length;
}
