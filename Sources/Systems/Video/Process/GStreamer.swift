#if Video
  import CGStreamer
  import Glibc

  /// The macros of GStreamer's C headers that Swift cannot import, and helpers.
  enum GStreamer {
    /// The value of `GST_CLOCK_TIME_NONE`.
    static let noTime = GstClockTime.max

    /// Initialises GStreamer. The function must be called once, before anything else.
    ///
    /// - Throws: GStreamer's error message.
    static func start() throws(VideoFailure) {
      // By default libcamera logs at every start what it has found; a user who wants these lines sets the variable.
      setenv("LIBCAMERA_LOG_LEVELS", "*:ERROR", 0)
      var error: UnsafeMutablePointer<GError>?
      guard gst_init_check(nil, nil, &error) == 0 else { return }
      throw VideoFailure("GStreamer does not start: \(string(freeing: error))")
    }

    /// Returns the message of an error and frees the error.
    static func string(freeing error: UnsafeMutablePointer<GError>?) -> String {
      guard let error else { return "no reason given" }
      defer { g_error_free(error) }
      return error.pointee.message.map { String(cString: $0) } ?? "no reason given"
    }

    /// Returns a text of GLib as a string and frees the text.
    static func string(freeing text: UnsafeMutablePointer<CChar>?) -> String {
      guard let text else { return "" }
      defer { g_free(text) }
      return String(cString: text)
    }

    static func has(_ element: String) -> Bool {
      guard let factory = gst_element_factory_find(element) else { return false }
      gst_object_unref(UnsafeMutableRawPointer(factory))
      return true
    }

    static func set(_ object: UnsafeMutableRawPointer, _ property: String, _ value: String) {
      gst_util_set_object_arg(object.assumingMemoryBound(to: GObject.self), property, value)
    }

    /// Connects a handler to a signal.
    ///
    /// - Parameter handler: a C function with the signature of the signal.
    static func connect(
      _ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback, _ context: UnsafeMutableRawPointer
    ) {
      g_signal_connect_data(object, signal, handler, context, nil, GConnectFlags(rawValue: 0))
    }

    /// Returns the error in a bus message as one line that includes the details.
    static func failure(_ message: UnsafeMutablePointer<GstMessage>) -> String {
      var error: UnsafeMutablePointer<GError>?
      var details: UnsafeMutablePointer<CChar>?
      gst_message_parse_error(message, &error, &details)
      let source = message.pointee.src.map { string(freeing: gst_object_get_name($0)) } ?? "unknown"
      let lines = string(freeing: details).split(separator: "\n").map(String.init)
      var text = "\(source): \(string(freeing: error))"
      // The first line names GStreamer's source file; the last one gives the reason of the system or of the element.
      if lines.count > 1, let last = lines.last, !text.contains(last) { text += " (\(last))" }
      return text
    }
  }

  /// The reason why there is no picture, described for people, with the remedy where that is known.
  struct VideoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
#endif
