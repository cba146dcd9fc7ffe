import NIOCore
import NIOWebSocket

/// A session that speaks a protocol of a system's instead of the service's own.
extension WebSocketSession {
  /// The time between two beats of a talk.
  private static let talkInterval = TimeAmount.milliseconds(50)

  /// Begins to speak the system's protocol with this client.
  func begin(_ socket: SystemSocket) {
    let log = shared.logAction
    let line = SocketLine(
      text: onLoop { (session, out: SocketLine.Outgoing) in session.tell(out) },
      action: { [caller] action, error in log(action, caller, error) })
    talk = socket.open(caller, line)
    scheduleTalk()
  }

  private func scheduleTalk() {
    talkBeat = eventLoop?.assumeIsolated().scheduleTask(in: Self.talkInterval) { [weak self] in
      guard let self, let talk = self.talk else { return }
      talk.beat()
      self.scheduleTalk()
    }
  }

  private func tell(_ out: SocketLine.Outgoing) {
    offer(webSocketFrame(.text, Array(out.text.utf8)), telemetry: out.kind, keeping: out.keeping)
    flush()
  }
}
