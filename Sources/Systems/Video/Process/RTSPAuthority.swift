#if Video
  import CGStreamer
  import Peers
  import Synchronization
  import Tactus

  /// Authentication for the RTSP port: a digest (RFC 2617), compared in constant time. The number of attempts is limited for each address
  /// and in total (`AttemptLimiter`). A client without the password learns only that one is required.
  ///
  /// A separate GObject class is used because GStreamer's class compares with `strcmp`, allows any number of attempts, and keeps every
  /// nonce for half a minute. Here each connection has one nonce as long as it lasts.
  // Safe: what GStreamer's threads touch is locked, or set before they exist.
  final class RTSPAuthority: @unchecked Sendable {
    private static let realm = "tactus"
    private static let key = "tactus-authority"
    static let role = "viewer"

    private struct Challenge {
      let nonce: String
      /// Whether the right password came with the nonce of another connection.
      var isStale = false
      /// Whether the right password has come on this connection.
      var isMet = false
    }
    private struct Offer { var user = "", nonce = "", uri = "", response = "" }

    /// The object for `gst_rtsp_server_set_auth`.
    let object: UnsafeMutablePointer<GstRTSPAuth>
    private let user: String
    private let password: String
    private let limiter = AttemptLimiter()
    /// The challenges by the addresses of their connections.
    private let challenges = Mutex<[UInt: Challenge]>([:])
    private let token: UnsafeMutablePointer<GstRTSPToken>
    private let wrong: @Sendable () -> Void

    /// Creates the authority for one user name and password.
    ///
    /// - Parameter wrong: called when a wrong password was given or an attempt was rejected unchecked. Called on any thread.
    init(user: String, password: String, wrong: @escaping @Sendable () -> Void) {
      (self.user, self.password, self.wrong) = (user, password, wrong)
      token = gst_rtsp_token_new_empty()
      gst_rtsp_token_set_string(token, GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, Self.role)
      let object = g_object_new_with_properties(Self.type, 0, nil, nil)!
      self.object = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstRTSPAuth.self)
      g_object_set_data(object, Self.key, Unmanaged.passUnretained(self).toOpaque())
    }

    private static let type = g_type_register_static_simple(
      gst_rtsp_auth_get_type(), "TactusRTSPAuthority", guint(clamping: MemoryLayout<GstRTSPAuthClass>.size),
      { type, _ in
        let type = type!.assumingMemoryBound(to: GstRTSPAuthClass.self)
        type.pointee.check = { object, context, what in RTSPAuthority.of(object!).check(context!, what!) ? 1 : 0 }
        type.pointee.authenticate = { object, context in
          RTSPAuthority.of(object!).authenticate(context!)
          return 1
        }
        type.pointee.generate_authenticate_header = { object, context in RTSPAuthority.of(object!).challenge(context!) }
      }, guint(clamping: MemoryLayout<GstRTSPAuth>.size), nil, GTypeFlags(rawValue: 0))

    private static func of(_ object: UnsafeMutablePointer<GstRTSPAuth>) -> RTSPAuthority {
      let object = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GObject.self)
      return Unmanaged.fromOpaque(g_object_get_data(object, key)).takeUnretainedValue()
    }

    /// Removes the challenge of a connection that has ended.
    func forget(_ connection: UInt) { _ = challenges.withLock { $0.removeValue(forKey: connection) } }

    // MARK: GStreamer's questions

    /// Returns whether the request is allowed. Too frequent attempts are rejected before the password is checked; all else is decided by
    /// GStreamer.
    private func check(_ context: UnsafeMutablePointer<GstRTSPContext>, _ what: UnsafePointer<gchar>) -> Bool {
      let standard = g_type_class_peek(gst_rtsp_auth_get_type()).assumingMemoryBound(to: GstRTSPAuthClass.self)
      if String(cString: what) == GST_RTSP_AUTH_CHECK_MEDIA_FACTORY_ACCESS, Self.offer(context) != nil,
        challenges.withLock({ $0[Self.connection(context)]?.isMet }) != true,
        let wait = limiter.wait(Self.peer(context), at: MonotonicClock.now)
      {
        wrong()
        refuse(context, wait)
        return false
      }
      return standard.pointee.check(object, context, what) != 0
    }

    /// Gives the request a token if its password is right.
    private func authenticate(_ context: UnsafeMutablePointer<GstRTSPContext>) {
      guard let offer = Self.offer(context) else { return }
      let (peer, connection) = (Self.peer(context), Self.connection(context))
      let expected = GStreamer.string(
        freeing: gst_rtsp_generate_digest_auth_response(
          nil, gst_rtsp_method_as_text(context.pointee.method), Self.realm, user, password, offer.uri, offer.nonce))
      // Both are compared whatever comes of the first.
      let isUser = Self.isEqual(offer.user, user)
      guard Self.isEqual(offer.response, expected), isUser else {
        limiter.failPassword(peer, at: MonotonicClock.now)
        return wrong()
      }
      let isMet = challenges.withLock { challenges in
        let isMet = challenges[connection]?.nonce == offer.nonce
        challenges[connection]?.isStale = !isMet
        if isMet { challenges[connection]?.isMet = true }
        return isMet
      }
      guard isMet else { return }
      limiter.succeed(peer)
      context.pointee.token = token
    }

    private func challenge(_ context: UnsafeMutablePointer<GstRTSPContext>) {
      let connection = Self.connection(context)
      let challenge = challenges.withLock { challenges in
        let challenge = challenges[connection] ?? Challenge(nonce: Self.newNonce())
        challenges[connection] = Challenge(nonce: challenge.nonce, isMet: challenge.isMet)
        return challenge
      }
      let stale = challenge.isStale ? ", stale=true" : ""
      gst_rtsp_message_add_header(
        context.pointee.response, GST_RTSP_HDR_WWW_AUTHENTICATE,
        "Digest realm=\"\(Self.realm)\", nonce=\"\(challenge.nonce)\"\(stale)")
    }

    private func refuse(_ context: UnsafeMutablePointer<GstRTSPContext>, _ wait: Int64) {
      // RTSP has the status codes of HTTP besides its own (RFC 2326 §7.1.1).
      gst_rtsp_message_init_response(
        context.pointee.response, GstRTSPStatusCode(rawValue: 429), "Too Many Requests", context.pointee.request)
      gst_rtsp_message_add_header(context.pointee.response, GST_RTSP_HDR_RETRY_AFTER, "\(wait)")
      gst_rtsp_client_send_message(context.pointee.client, context.pointee.session, context.pointee.response)
    }

    // MARK: requests

    private static func connection(_ context: UnsafeMutablePointer<GstRTSPContext>) -> UInt {
      UInt(bitPattern: context.pointee.client)
    }

    private static func peer(_ context: UnsafeMutablePointer<GstRTSPContext>) -> String {
      gst_rtsp_connection_get_ip(context.pointee.conn).map { String(cString: $0) } ?? ""
    }

    /// Returns the first digest of a request, or `nil` if the request has no digest. A request is one attempt, however many digests it contains.
    private static func offer(_ context: UnsafeMutablePointer<GstRTSPContext>) -> Offer? {
      guard let request = context.pointee.request,
        let credentials = gst_rtsp_message_parse_auth_credentials(request, GST_RTSP_HDR_AUTHORIZATION)
      else { return nil }
      defer { gst_rtsp_auth_credentials_free(credentials) }
      var next = credentials
      while let credential = next.pointee {
        next += 1
        let isDigest = credential.pointee.scheme == GST_RTSP_AUTH_DIGEST
        guard isDigest, var fields = credential.pointee.params else { continue }
        var offer = Offer()
        while let field = fields.pointee {
          fields += 1
          guard let name = field.pointee.name, let text = field.pointee.value else { continue }
          let value = String(cString: text)
          switch String(cString: name) {
          case "username": offer.user = value
          case "nonce": offer.nonce = value
          case "uri": offer.uri = value
          case "response": offer.response = value
          default: break
          }
        }
        return offer
      }
      return nil
    }

    private static func newNonce() -> String {
      var random = SystemRandomNumberGenerator()
      return (0..<2).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined()
    }

    /// Returns whether both texts are equal, in a time that depends on their lengths alone.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
      let (one, other) = (Array(one.utf8), Array(other.utf8))
      return one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }
#endif
