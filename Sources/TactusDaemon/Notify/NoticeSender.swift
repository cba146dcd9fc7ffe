import Foundation
import Service
import Tactus
import WallTime
import Wire

/// Delivers one message to one receiver. Blocks for at most `limit`, and is used on a thread of the receiver's own.
struct NoticeSender: Sendable {
  static let limit = Duration.seconds(15)

  let receiver: NotifyReceiver

  /// Delivers a message and returns the outcome. No outcome contains the receiver's address or its secret.
  func send(_ message: NoticeMessage) -> NoticeOutcome {
    switch receiver.way {
    case .webhook(let place): post(message.document, to: place)
    case .ntfy(let place, let topic): post(Self.ntfy(message, topic: topic), to: place)
    case .mail(let mail): deliver(message, by: mail, isProbe: false)
    }
  }

  /// Checks, without sending a message, whether the receiver can be reached and, if it is a mail server, whether the
  /// server accepts the login.
  func probe() -> NoticeOutcome {
    switch receiver.way {
    case .webhook(let place), .ntfy(let place, _):
      return ask("HEAD", NotifyReceiver.Place(address: place.address, path: "/"), body: nil) {
        .sent("it answers with status \($0)")
      }
    case .mail(let mail):
      let message = NoticeMessage(
        id: "probe", receiver: receiver.name, stage: .happened, condition: .test, seconds: 0, times: 0, missing: 0,
        timeISO: nil, host: "")
      return deliver(message, by: mail, isProbe: true)
    }
  }

  /// Returns the message for ntfy's JSON API, in which no text can become a header.
  static func ntfy(_ message: NoticeMessage, topic: String) -> JSONValue {
    let severity = message.condition.severity
    let priority = message.stage == .over ? 3 : severity == .critical ? 5 : severity == .warning ? 4 : 2
    let sign = message.stage == .over ? "white_check_mark" : severity == .critical ? "rotating_light" : "warning"
    return [
      "topic": .text(topic), "title": .text(String(message.title.prefix(200))), "message": .text(message.text),
      "priority": .integer(priority),
      "tags": .list([sign, message.condition.kind.rawValue, message.condition.system].map { .text($0) }),
    ]
  }

  private func post(_ document: JSONValue, to place: NotifyReceiver.Place) -> NoticeOutcome {
    ask("POST", place, body: document.bytes) { status in
      switch status {
      case 200...299: .sent("status \(status)")
      // These statuses may be temporary or mended by the user, such as too many requests, a refused login or a missing
      // page.
      case 401, 403, 404, 407, 408, 425, 429, 500...599: .failed("the receiver answered with status \(status)")
      default: .refused("the receiver refused it with status \(status)")
      }
    }
  }

  private func ask(
    _ method: String, _ place: NotifyReceiver.Place, body: [UInt8]?, judge: (Int) -> NoticeOutcome
  ) -> NoticeOutcome {
    do throws(ServiceClient.Failure) {
      let client = try ServiceClient(place.address, token: receiver.secret)
      defer { client.stop() }
      return judge(try client.ask(method, place.path, body: body, limit: Self.limit).get().status)
    } catch {
      return .failed("\(error)")
    }
  }

  private func deliver(_ message: NoticeMessage, by mail: NotifyReceiver.Mail, isProbe: Bool) -> NoticeOutcome {
    let login = mail.user.flatMap { user in receiver.secret.map { (user: user, password: $0) } }
    let protection: SMTPClient.Protection =
      switch mail.tls {
      case .off: .none
      case .starttls: .startTLS
      case .tls: .tls
      }
    let client = SMTPClient(host: mail.server, port: mail.port, protection: protection, login: login)
    let letter = MailMessage(
      from: mail.from, to: mail.to, subject: message.title, text: message.text, id: message.id,
      date: message.timeISO == nil ? nil : Self.date)
    do throws(SMTPClient.Failure) {
      return .sent(try client.send(letter, isProbe: isProbe, limit: Self.limit))
    } catch {
      return error.isFinal ? .refused("\(error)") : .failed("\(error)")
    }
  }

  /// The present time as mails have it: `Fri, 21 Nov 1997 09:55:06 +0000`.
  private static var date: String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
    return formatter.string(from: Date(timeIntervalSince1970: Double(WatchedWallClock().now.secondsSince1970)))
  }
}

extension NoticeCondition {
  /// The condition of a test message.
  static let test = NoticeCondition("test", .test, "daemon", .info, "a test message; nothing is wrong")

  /// Returns the occurrence of a start, or `nil` after an orderly stop.
  static func start(after end: NoticeFile.End) -> NoticeCondition? {
    let way = "look at the log of before; what was stopped does not start by itself"
    return switch end {
    case .orderly: nil
    case .crash:
      NoticeCondition(
        "occurrence/start", .start, "daemon", .warning, "the daemon has started again after it was killed or crashed",
        wayOut: way)
    case .powerCut:
      NoticeCondition(
        "occurrence/start", .start, "daemon", .warning,
        "the daemon has started after a power cut or a reset of the machine", wayOut: way)
    }
  }
}
