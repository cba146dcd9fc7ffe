// What the receivers of an RTP session have reported, which GStreamer keeps in structures that C functions of any number of arguments read.
#pragma once
#include <gst/gst.h>

typedef struct {
  guint source;     // The receiver, by the number that it gave itself.
  gint lost;        // Packets since its beginning.
  guint highest;    // Sequence number, with its rounds above it.
  guint round_trip; // In 1/65536 s; 0 is not known.
} RTPReport;

// Takes the newest report of each receiver, of at most `limit`, from an RTPSession. Returns how many.
static inline guint rtp_reports(GObject *session, RTPReport *reports, guint limit) {
  GstStructure *stats = NULL;
  guint count = 0;
  g_object_get(session, "stats", &stats, NULL);
  if (stats == NULL) return 0;
  const GValue *value = gst_structure_get_value(stats, "source-stats");
  G_GNUC_BEGIN_IGNORE_DEPRECATIONS
  const GValueArray *sources = value != NULL ? g_value_get_boxed(value) : NULL;
  for (guint index = 0; sources != NULL && index < sources->n_values && count < limit; index++) {
    const GstStructure *source = gst_value_get_structure(g_value_array_get_nth((GValueArray *)sources, index));
    gboolean has_report = FALSE;
    RTPReport *report = reports + count;
    if (source == NULL || !gst_structure_get_boolean(source, "have-rb", &has_report) || !has_report) continue;
    if (gst_structure_get(source, "ssrc", G_TYPE_UINT, &report->source, "rb-packetslost", G_TYPE_INT, &report->lost,
                          "rb-exthighestseq", G_TYPE_UINT, &report->highest, "rb-round-trip", G_TYPE_UINT,
                          &report->round_trip, NULL))
      count++;
  }
  G_GNUC_END_IGNORE_DEPRECATIONS
  gst_structure_free(stats);
  return count;
}

// Returns the RTPSession of a webrtcbin's only stream, to be unreferenced, or NULL before there is one.
static inline GObject *webrtc_session(GstElement *bin) {
  GObject *session = NULL;
  GstElement *rtp = gst_bin_get_by_name(GST_BIN(bin), "rtpbin");
  if (rtp == NULL) return NULL;
  g_signal_emit_by_name(rtp, "get-internal-session", 0, &session);
  gst_object_unref(rtp);
  return session;
}

// Changes the bit rate of an encoder that runs.
static inline void encoder_set_rate(GstElement *encoder, guint bits_per_second) {
  const char *type = GST_OBJECT_NAME(gst_element_get_factory(encoder));
  if (g_str_equal(type, "x264enc")) {
    g_object_set(encoder, "bitrate", MAX(1, bits_per_second / 1000), NULL);
  } else if (g_str_equal(type, "v4l2h264enc")) {
    GstStructure *controls = gst_structure_new("controls", "video_bitrate", G_TYPE_INT, (gint)bits_per_second, NULL);
    g_object_set(encoder, "extra-controls", controls, NULL);
    gst_structure_free(controls);
  } else {
    g_object_set(encoder, "bitrate", bits_per_second, NULL);
  }
}
