@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer

  /// The source element of a viewer's pipeline, into which frames of the shared encoder are pushed. It begins with a key frame.
  // Sendable: GStreamer counts who holds the element, and lets any thread push; the caller locks the rest.
  struct FrameFeed: @unchecked Sendable {
    /// The source's description in the notation of `gst-launch-1.0`: bounded, and the oldest frames leave first.
    static let description =
      "appsrc name=feed is-live=true format=time min-latency=0 max-latency=2000000000 max-bytes=4000000 leaky-type=downstream"

    private let source: UnsafeMutablePointer<GstAppSrc>
    /// Whether frames are dropped until the next key frame.
    var needsKey = true
    private var caps: UnsafeMutablePointer<GstCaps>?

    /// Takes the source out of a bin that was made from `description`, or returns `nil` if the bin has no source.
    init?(in bin: UnsafeMutablePointer<GstElement>) {
      let bin = UnsafeMutableRawPointer(bin).assumingMemoryBound(to: GstBin.self)
      guard let source = gst_bin_get_by_name_recurse_up(bin, "feed") else { return nil }
      self.source = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self)
    }

    /// Gives the element back. Nothing may be pushed afterwards.
    func release() {
      gst_object_unref(source)
      if let caps { gst_caps_unref(caps) }
    }

    /// Pushes a frame, whose timestamp begins when the pipeline does. Returns whether the frame was used; false means that the feed waits
    /// for a key frame, or that the pipeline began after the frame.
    mutating func push(_ frame: EncodedFrame) -> Bool {
      let began = gst_element_get_base_time(UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstElement.self))
      guard began > 0, frame.time >= UInt64(began), frame.isKey || !needsKey else { return false }
      if caps.map({ gst_caps_is_equal($0, frame.caps) == 0 }) ?? true {
        if let caps { gst_caps_unref(caps) }
        caps = gst_caps_ref(frame.caps)
        gst_app_src_set_caps(source, frame.caps)
      }
      guard let copy = gst_buffer_copy(frame.buffer) else { return false }
      copy.pointee.pts = GstClockTime(frame.time) - began
      copy.pointee.dts = GStreamer.noTime
      needsKey = gst_app_src_push_buffer(source, copy) != GST_FLOW_OK
      return true
    }
  }
#endif
