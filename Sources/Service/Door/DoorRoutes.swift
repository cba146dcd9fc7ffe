import Foundation
import HTTPTypes
import NIOCore
import WallTime
import Wire

/// The routes that belong to no single system: the state of all systems, health, the emergency stop of all, and the API's description.
struct DoorRoutes: Sendable {
  let systems: [any ServedSystem]
  let health: ServiceHealth
  let version: String
  var additions = APIAdditions()
  /// The routes of the systems, which the API's description also lists.
  var others: [Route] = []
  /// The time zone of the machine, or `nil` if the state of all systems names none.
  var zone: MachineZone?
  /// Whether so few file descriptors are left that only callers that may stop are admitted.
  var isScarce: @Sendable () -> Bool = { false }

  var routes: [Route] {
    [
      Route("/api/status", status),
      Route("/api/health", scope: nil, healthDocument),
      Route("/api/openapi.json", scope: nil, description),
      Route(.post, "/api/e-stop", scope: .control, action: "all.e-stop") { request in
        try await everySystem(of: systems, doing: "e-stop") { try await $0.emergencyStop(request.caller) }
      }.makingSafe(),
      Route(.post, "/api/reset", scope: .control, action: "all.reset") { request in
        try await everySystem(of: systems, doing: "reset") { try await $0.reset(request.caller) }
      },
    ]
  }

  /// The document `{"ok":true,"version":…,"timeZone":{…},"systems":{NAME:STATE}}` with the members that systems add at the top level. The document is
  /// made again when a system's version has changed.
  private var status: PreparedDocument {
    let (systems, version, zone) = (systems, encodeJSON(version), zone)
    // The part about the time zone changes only with the zone's offset.
    let newest: @Sendable () -> UInt64 = {
      let offset = UInt64(truncatingIfNeeded: zone?.rules.offsetSeconds(at: .now) ?? 0)
      return systems.reduce(offset) { $0 &* 0x9E37_79B9_7F4A_7C15 &+ $1.version }
    }
    return PreparedDocument(version: newest) {
      var bytes = Array(#"{"ok":true,"version":"#.utf8) + version
      for members in systems.compactMap(\.statusMembers) where members.count > 2 {
        bytes += [UInt8(ascii: ",")] + members.dropFirst().dropLast()
      }
      if let zone { bytes += Array(#","timeZone":"#.utf8) + encodeJSON(ZoneDocument(zone, at: .now)) }
      bytes += Array(#","systems":{"#.utf8)
      for (index, system) in systems.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += encodeJSON(system.name) + [UInt8(ascii: ":")] + system.state
      }
      return bytes + Array("}}".utf8)
    }
  }

  /// The OpenAPI document of the routes that this service has.
  private var description: PreparedDocument {
    let (version, additions, door) = (version, additions, self)
    return PreparedDocument(
      version: { 0 },
      make: {
        let names = (door.routes + door.others).map { "\($0.method) \($0.path)" }
        // The connection answers these before a route is looked for.
        let sockets = door.systems.flatMap { $0.sockets.map { "GET \($0.path)" } }
        return OpenAPIDocument.bytes(version: version, served: Set(names + ["GET /ws"] + sockets), additions)
      })
  }

  /// The health document, made again at most once a beat, but at once for a new trouble: it may be requested without a
  /// token, and each making encodes and parses every system's state.
  private var healthDocument: PreparedDocument {
    PreparedDocument(
      version: { [health, isScarce] in health.version &* 2 &+ (isScarce() ? 1 : 0) }, content: { answerHealth() })
  }

  private struct Health: Encodable {
    let ok: Bool
    let status: String
    let version: String
    let systems: [String: String?]
    let `guard`: GuardHealth.Report
    let code: String?
    let message: String?
    let warnings: [Warning]?
  }

  /// A trouble whose cause lies outside the daemon.
  private struct Warning: Encodable {
    let code: String
    let message: String
  }

  /// Returns the health document. The status is 503 while a control loop does not tick or the daemon is stopping, because
  /// load balancers and service managers read nothing but the status. Any other trouble leaves it at 200, because a
  /// restart or an older version would not help.
  private func answerHealth() -> PreparedDocument.Content {
    let stalled = health.stalled
    let told = health.troubles + (isScarce() ? [ServiceTrouble.fewDescriptors] : [])
    let troubles = told.filter { !$0.isOutside }
    let warnings = told.filter(\.isOutside).map { Warning(code: $0.code, message: $0.message) }
    let isWorking = !health.isStopping && stalled.isEmpty
    let (status, code, message): (String, String?, String?) =
      if health.isStopping {
        ("stopping", "STOPPING", "the daemon is stopping")
      } else if !stalled.isEmpty {
        ("degraded", "STALLED", "not ticking: " + stalled.joined(separator: ", "))
      } else if let first = troubles.first {
        ("degraded", first.code, troubles.map(\.message).joined(separator: "; "))
      } else {
        ("ok", nil, nil)
      }
    let states = systems.map { ($0.name, Self.stateName(of: $0.state)) }
    let document = Health(
      ok: isWorking, status: status, version: version, systems: Dictionary(uniqueKeysWithValues: states),
      guard: health.guardHealth.report, code: code, message: message, warnings: warnings.isEmpty ? nil : warnings)
    return PreparedDocument.Content(
      status: isWorking ? .ok : .serviceUnavailable, bytes: ByteBuffer(bytes: encodeJSON(document)))
  }

  /// Returns the member `state` of a system's state document, or `nil` if that member is missing or is not a text.
  private static func stateName(of state: [UInt8]) -> String? {
    guard case .object(let members)? = try? JSONParser.parse(state),
      case .text(let name)? = members.first(where: { $0.name == "state" })?.value
    else { return nil }
    return name
  }
}

/// Runs one action on all systems concurrently, and returns the response; the failure of one does not keep the others from stopping.
private func everySystem(
  of systems: [any ServedSystem], doing what: String,
  _ work: @escaping @Sendable (any ServedSystem) async throws -> Void
) async throws -> APIResponse {
  struct Document: Encodable {
    let ok = true
    let systems: [String]
  }
  var failures: [(system: String, error: any Error)] = []
  await withTaskGroup(of: (String, any Error)?.self) { group in
    for system in systems {
      group.addTask {
        do {
          try await work(system)
          return nil
        } catch {
          return (system.name, error)
        }
      }
    }
    for await case let failure? in group { failures.append(failure) }
  }
  failures.sort { $0.system < $1.system }
  guard let first = failures.first else {
    return .json(Document(systems: systems.map(\.name)), logValue: systems.map(\.name).joined(separator: " "))
  }
  guard let error = first.error as? APIError else { throw first.error }
  let names = failures.map(\.system).joined(separator: ", ")
  throw APIError(error.status, error.code, "\(what) failed for \(names): \(error.message)", headers: error.headers)
}
