@_spi(FromOutside) import Conversions
import HTTPTypes
import Service
import Tactus
import TactusDaemon
import Video

/// A session of WebRTC: its place among the viewers, and the request that waits for its answer.
struct WebRTCSeat: Sendable {
  let since: TickInstant
  /// The request that has brought the offer, or `nil` once it is answered.
  var asker: CheckedContinuation<Result<String, APIError>, Never>?
}

/// Viewers by WebRTC, who come by WHEP (draft-ietf-wish-whep): an offer is posted and answered, its session deleted. Datagrams are between
/// the viewer and the video process.
extension VideoDesk {
  private static let path = "/api/video/whep"
  /// The longest time from an offer to its answer, in which a slow computer makes a key and a certificate.
  private static let patience = Nanoseconds.seconds(8)

  var webRTCRoutes: [Route] {
    var opening = Route(.post, Self.path) { [self] request in try await open(request) }
    (opening.fileLimit, opening.fileType) = (WebRTCOffer.limit, "application/sdp")
    let closing = Route(.delete, Self.path + "/{session}") { [self] request in try close(request) }
    return [opening, closing]
  }

  private func open(_ request: APIRequest) async throws(APIError) -> APIResponse {
    guard !request.body.isEmpty else {
      throw APIError(.badRequest, "BODY_MISSING", "expected an offer, application/sdp, got an empty body")
    }
    let offer = try Self.offer(request.body)
    let now = now()
    let number = UInt64.random(in: .min ... .max)
    let result = await withCheckedContinuation { asker in
      let refusal = change { state -> APIError? in
        if let refusal = Self.refusal(state, description.viewerLimit) { return refusal }
        state.sessions[number] = WebRTCSeat(since: now, asker: asker)
        return nil
      }
      if let refusal { asker.resume(returning: .failure(refusal)) } else { order(.open(session: number, offer)) }
    }
    let answer = try result.get()
    request.watch(
      while: { [weak self] in self?.snapshot.sessions[number] != nil }, ended: { [weak self] _ in self?.expel(number) })
    return APIResponse(
      .created, contentType: "application/sdp", headers: [.location: "\(Self.path)/\(Self.name(number))"],
      body: Array(answer.utf8))
  }

  private static func offer(_ body: [UInt8]) throws(APIError) -> WebRTCOffer {
    do {
      return try WebRTCOffer.decode(body)
    } catch {
      switch error {
      case .tooLong: throw APIError(.contentTooLarge, "TOO_LARGE", "\(error)")
      case .malformed: throw APIError(.badRequest, "BAD_SDP", "\(error)")
      case .videoSections, .missing: throw APIError(.unprocessableContent, "VALIDATION", "\(error)")
      case .noH264: throw APIError(.notAcceptable, "NO_H264", "\(error)")
      }
    }
  }

  /// Returns the reason why no viewer can join now, or `nil` if there is a place. A camera that has failed sends nothing, and the answer to a request
  /// for MP4 gives the same reason.
  private static func refusal(_ state: VideoSnapshot, _ limit: Int) -> APIError? {
    guard state.process.process != nil else { return down }
    guard state.watching < limit else { return full(limit) }
    guard state.camera.phase == .failed else { return nil }
    let words = VideoWords(state)
    return APIError(
      .serviceUnavailable, "NO_PICTURE",
      "there is no picture: \(words.reason)" + (words.wayOut.map { "; \($0)" } ?? ""))
  }

  private func close(_ request: APIRequest) throws(APIError) -> APIResponse {
    let text = request.parameters["session"] ?? ""
    guard let number = UInt64(text, radix: 16), Self.name(number) == text, leave(number) != nil else {
      throw .notFound("there is no session \(text.prefix(20)): it has ended, or never was")
    }
    order(.close(session: number))
    return .json(DoneDocument())
  }

  /// Returns the name of a session in its URL: 16 digits that cannot be guessed.
  private static func name(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Ends a session whose viewer is not admitted any more.
  private func expel(_ number: UInt64) {
    if leave(number) != nil { order(.close(session: number)) }
  }

  /// Removes a session, and returns it if there was one.
  private func leave(_ number: UInt64) -> WebRTCSeat? { change { $0.sessions.removeValue(forKey: number) } }

  // MARK: what the video process tells

  func answered(_ number: UInt64, _ text: String) {
    let asker = current.withLock { state in
      defer { state.sessions[number]?.asker = nil }
      return state.sessions[number]?.asker
    }
    asker?.resume(returning: .success(text))
  }

  func ended(_ number: UInt64, _ end: WebRTCEnd) {
    let error: APIError =
      switch end.kind {
      case .unavailable: APIError(.notImplemented, "NO_WEBRTC", end.reason)
      case .refused: APIError(.unprocessableContent, "VALIDATION", "the offer cannot be answered: \(end.reason)")
      case .over: APIError(.serviceUnavailable, "SESSION_ENDED", end.reason)
      }
    leave(number)?.asker?.resume(returning: .failure(error))
  }

  /// Ends all sessions, because the process that had them is gone.
  func endSessions() {
    let seats = change { state in
      defer { state.sessions = [:] }
      return state.sessions.values.compactMap(\.asker)
    }
    for asker in seats { asker.resume(returning: .failure(Self.down)) }
  }

  /// Ends sessions whose offer the video process has not answered in time.
  func giveUpSessions(at now: TickInstant) {
    let late = current.withLock { state in
      let late = state.sessions.filter { $0.value.asker != nil && now - $0.value.since >= Self.patience }
      for number in late.keys { state.sessions[number] = nil }
      return late
    }
    for (number, seat) in late {
      order(.close(session: number))
      seat.asker?.resume(
        returning: .failure(
          APIError(.serviceUnavailable, "VIDEO_DOWN", "the video process does not answer; GET /api/video says why")))
    }
  }
}
