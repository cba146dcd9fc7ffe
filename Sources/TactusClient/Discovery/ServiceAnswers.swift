/// The instances of one type of service, as the answers of their hosts describe them part by part.
///
/// Any host of the network may answer, so there are limits for what is kept.
struct ServiceAnswers: Sendable {
  /// The greatest number of instances.
  static let mostInstances = 64
  /// The greatest number of addresses of a host.
  static let mostAddresses = 16
  /// The greatest number of questions of one query.
  static let mostQuestions = 8
  /// The greatest number of values of an instance's TXT record.
  static let mostTexts = 32

  /// An instance of the service whose host, texts and addresses are all known.
  struct Service: Equatable, Sendable {
    /// The name of the instance, without control characters.
    var name: String
    /// The name of the host, of letters, digits, hyphens, underscores and dots.
    var host: String
    var port: UInt16
    /// The values of the TXT record by their keys in lower case. A key without a value has an empty one.
    var texts: [String: String]
    /// The addresses, of four or sixteen bytes each.
    var addresses: [[UInt8]]
  }

  private struct Instance {
    var name: String
    /// The last round in which the instance was heard of.
    var heardIn = 0
    var host: DNSName?
    var port: UInt16 = 0
    var texts: [String: String]?
  }

  private struct Host {
    /// The round in which these addresses were heard of. Those of a later round take their place.
    var heardIn: Int
    var addresses: [[UInt8]] = []
  }

  private let type: DNSName
  private var instances: [DNSName: Instance] = [:]
  private var hosts: [DNSName: Host] = [:]

  /// Creates an empty collection for one type of service.
  ///
  /// - Parameter type: the type with its domain, such as `_tactus._tcp.local`.
  init(_ type: DNSName) { self.type = type }

  /// Takes an answer.
  /// - Parameter round: the number of the query that was answered; later queries have greater ones.
  mutating func hear(_ message: DNSMessage, in round: Int) {
    for record in message.records where record.name == type {
      guard case .pointer(let instance) = record.content, let name = instanceName(instance) else { continue }
      guard record.secondsToLive > 0 else {
        instances[instance] = nil
        continue
      }
      guard instances[instance] != nil || instances.count < Self.mostInstances else { continue }
      instances[instance, default: Instance(name: name)].heardIn = round
    }
    let valid = message.records.filter { $0.secondsToLive > 0 }
    for record in valid where instances[record.name] != nil {
      switch record.content {
      case .service(let host, let port):
        guard port > 0, Self.text(of: host) != nil else { continue }
        instances[record.name]?.host = host
        instances[record.name]?.port = port
      case .text(let strings): instances[record.name]?.texts = Self.texts(strings)
      case .pointer, .address: continue
      }
    }
    let named = Set(instances.values.compactMap(\.host))
    for record in valid where named.contains(record.name) {
      guard case .address(let bytes) = record.content else { continue }
      var host = hosts[record.name] ?? Host(heardIn: round)
      if host.heardIn != round { host = Host(heardIn: round) }
      if !host.addresses.contains(bytes), host.addresses.count < Self.mostAddresses { host.addresses.append(bytes) }
      hosts[record.name] = host
    }
    hosts = hosts.filter { named.contains($0.key) }
  }

  /// Forgets the instances that no round from this one on has heard of.
  mutating func forget(before round: Int) {
    instances = instances.filter { $0.value.heardIn >= round }
    let named = Set(instances.values.compactMap(\.host))
    hosts = hosts.filter { named.contains($0.key) }
  }

  /// The questions of the next query: for instances, and for what the answers so far have left out.
  var questions: [DNSMessage.Question] {
    var questions = [DNSMessage.Question(name: type, type: DNSMessage.Kind.pointer)]
    for (name, instance) in instances.sorted(by: { $0.value.name < $1.value.name }) {
      if let host = instance.host {
        if hosts[host] == nil { questions.append(DNSMessage.Question(name: host, type: DNSMessage.Kind.address4)) }
      } else {
        questions.append(DNSMessage.Question(name: name, type: DNSMessage.Kind.service))
      }
      if instance.texts == nil { questions.append(DNSMessage.Question(name: name, type: DNSMessage.Kind.text)) }
    }
    return Array(questions.prefix(Self.mostQuestions))
  }

  /// The instances whose hosts, texts and addresses are all known, by name.
  var services: [Service] {
    let known = instances.values.compactMap { instance -> Service? in
      guard let host = instance.host, let name = Self.text(of: host), let texts = instance.texts,
        let addresses = hosts[host]?.addresses
      else { return nil }
      return Service(name: instance.name, host: name, port: instance.port, texts: texts, addresses: addresses)
    }
    return known.sorted { $0.name < $1.name }
  }

  /// Returns the name of an instance of the type, or `nil` if it is not one, or if it has a character that is not seen: a terminal would
  /// obey a control character, and a direction mark turns the text beside the name round.
  private func instanceName(_ instance: DNSName) -> String? {
    guard instance.labels.count == type.labels.count + 1, let label = instance.labels.first,
      DNSName(labels: Array(instance.labels.dropFirst())) == type
    else { return nil }
    let text = String(decoding: label, as: UTF8.self)
    return text.unicodeScalars.allSatisfy(Self.isSeen) && Array(text.utf8) == label ? text : nil
  }

  /// Returns whether a scalar may be part of a visible character, as the daemon has it for names.
  private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    default: break
    }
    let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
    return isJoiner || !scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isVariationSelector
  }

  /// Returns the name of a host, or `nil` if it is not one.
  private static func text(of host: DNSName) -> String? {
    let isHost = !host.labels.isEmpty && host.labels.allSatisfy { label in label.allSatisfy(isOfHostName) }
    return isHost ? host.labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".") : nil
  }

  private static func isOfHostName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// Reads the strings of a TXT record: `KEY=VALUE`, or a key alone. Of a key that is repeated the first counts (RFC 6763, section 6.4).
  private static func texts(_ strings: [[UInt8]]) -> [String: String] {
    var texts: [String: String] = [:]
    for string in strings.prefix(mostTexts) {
      let key = string.prefix { $0 != UInt8(ascii: "=") }
      guard !key.isEmpty, key.allSatisfy({ (0x20...0x7E).contains($0) }) else { continue }
      let word = String(decoding: key, as: UTF8.self).lowercased()
      guard texts[word] == nil else { continue }
      texts[word] = String(decoding: string.dropFirst(key.count + 1), as: UTF8.self)
    }
    return texts
  }
}
