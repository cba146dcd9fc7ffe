#if Video
  import CGStreamer

  /// One encoded frame, valid only during a call: NAL units preceded by their lengths, in a shared buffer.
  // Sendable: buffer and caps are never written once they are here.
  struct EncodedFrame: @unchecked Sendable {
    let buffer: UnsafeMutablePointer<GstBuffer>
    let caps: UnsafeMutablePointer<GstCaps>
    let isKey: Bool
    /// The time of the frame on the system's monotonic clock, in nanoseconds.
    let time: UInt64

    var bytes: [UInt8] { Self.bytes(of: buffer) }

    static func bytes(of buffer: UnsafeMutablePointer<GstBuffer>) -> [UInt8] {
      var map = GstMapInfo()
      guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return [] }
      defer { gst_buffer_unmap(buffer, &map) }
      return Array(UnsafeBufferPointer(start: map.data, count: Int(clamping: map.size)))
    }

    /// The decoder configuration and the size of the picture, or `nil` if the encoder has not announced them yet.
    var format: (configuration: [UInt8], width: UInt16, height: UInt16)? {
      guard let structure = gst_caps_get_structure(caps, 0),
        let value = gst_structure_get_value(structure, "codec_data"),
        let data = g_value_get_boxed(value)?.assumingMemoryBound(to: GstBuffer.self)
      else { return nil }
      var width: Int32 = 0
      var height: Int32 = 0
      gst_structure_get_int(structure, "width", &width)
      gst_structure_get_int(structure, "height", &height)
      return (Self.bytes(of: data), UInt16(clamping: width), UInt16(clamping: height))
    }
  }
#endif
