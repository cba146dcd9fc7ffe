@_spi(FromOutside) import Conversions
import NIOCore

/// The values that the watches of one server share.
struct AdmissionWatching: Sendable {
  let hub: EventHub
  let admit: ServiceChannel.Admission
  /// The time between two checks.
  let interval: TimeAmount
  let secondsSince1970: @Sendable () -> Int64
}

/// Ends an admission that outlasts its request (a WebSocket, an answer in pieces, a session beside the connection) when
/// its token or certificate is revoked, expires or loses the scope. `APIResponder` and `WebSocketSession` watch
/// everything that they serve, so a new route or socket needs no code of its own for this.
///
/// The token is checked every `interval`, at its expiry, and when `EventHub.checkTokens` is called.
///
/// Unchecked because everything but `init` and `cancel` is used on `loop` only.
final class AdmissionWatch: @unchecked Sendable {
  private let admission: LastingAdmission
  private let watching: AdmissionWatching
  private let loop: any EventLoop
  private let isNeeded: () -> Bool
  private let ended: (_ code: String) -> Void
  /// The time at which the hub checks the token next, in addition to the check at the token's expiry. Only the hub uses
  /// this.
  var nextCheck: NIODeadline?
  private var timer: Scheduled<Void>?
  private var isOver = false

  /// Makes a watch that does nothing before `begin`.
  ///
  /// - Parameters:
  ///   - isNeeded: returns `false` once it has ended by itself; the watch then ends without calling `ended`. Called on
  ///     `loop`.
  ///   - ended: called at most once, on `loop`, with the code of the refusal, such as `TOKEN_INVALID`.
  init(
    _ admission: LastingAdmission, _ watching: AdmissionWatching, on loop: any EventLoop,
    while isNeeded: @escaping () -> Bool = { true }, ended: @escaping (_ code: String) -> Void
  ) {
    (self.admission, self.watching, self.loop) = (admission, watching, loop)
    (self.isNeeded, self.ended) = (isNeeded, ended)
  }

  /// Begins to watch. The function is to be called on the event loop, once.
  func begin() {
    loop.preconditionInEventLoop()
    watching.hub.join(self, on: loop)
    if hasExpired { end("TOKEN_EXPIRED") } else { schedule() }
  }

  /// Checks the token now. The function is to be called on the event loop.
  func check() {
    timer?.cancel()
    nextCheck = nil
    guard !isOver else { return }
    guard isNeeded() else { return end(nil) }
    if hasExpired { return end("TOKEN_EXPIRED") }
    if let code = admission.refusal(by: watching.admit) { return end(code) }
    schedule()
  }

  /// Ends the watch without calling `ended`. The function is to be called on the event loop.
  func cancel() {
    loop.preconditionInEventLoop()
    end(nil)
  }

  private func end(_ code: String?) {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    nextCheck = nil
    watching.hub.leave(self, on: loop)
    if let code { ended(code) }
  }

  private var secondsLeft: Int64? { admission.caller.expires.map { $0 - watching.secondsSince1970() } }
  private var hasExpired: Bool { secondsLeft.map { $0 <= 0 } ?? false }

  private func schedule() {
    guard let secondsLeft else {
      if admission.caller.tokenID != nil { watching.hub.check(self, after: watching.interval, on: loop) }
      return
    }
    // The time of day may jump, so it is checked at least once a minute.
    let expiry = TimeAmount.seconds(max(0, min(secondsLeft, 60)))
    let pause = admission.caller.tokenID == nil ? expiry : min(watching.interval, expiry)
    timer = loop.assumeIsolated().scheduleTask(in: pause) { self.check() }
  }
}
