import Buses
import BusesLinux
import Tactus
import WallTime
import Wire

extension FuzzedDecoder {
  static let texts = [
    FuzzedDecoder(name: "json", longest: 512) { bytes in
      // The first byte says what a repeated member is.
      guard let first = bytes.first else { return }
      let text = Array(bytes.dropFirst())
      do throws(JSONParser.Failure) {
        let value = try JSONParser.parse(text, repeated: first & 1 == 0 ? .refused : .lastCounts)
        let again = written(value)
        expect((try? JSONParser.parse(Array(again.utf8))) == value, "\(value) became \(again)")
        _ = value.summary
      } catch {
        expect((0...text.count).contains(error.offset) && error.line > 0 && error.column > 0, "\(error)")
      }
    },
    FuzzedDecoder(name: "topics", longest: 256) { bytes in
      let lines = text(bytes).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      guard lines.count == 3, let topics = DeviceTopics(device: lines[0], prefix: lines[1]) else { return }
      if let path = topics.commandPath(lines[2]) {
        expect(([topics.base] + path + ["command"]).joined(separator: "/") == lines[2], "\(path) of \(lines[2])")
      }
      if let item = topics.commandItem(lines[2], of: "plants") {
        expect(topics.command("plants", item) == lines[2], "\(String(describing: item)) of \(lines[2])")
      }
    },
    FuzzedDecoder(name: "gpio-line", longest: 300) { bytes in
      guard let name = GPIOLineName(text(bytes)) else { return }
      expect(GPIOLineName(name.description) == name, "\(name)")
    },
    FuzzedDecoder(name: "kernel-sensor", longest: 300) { bytes in
      if let name = KernelSensorName(text(bytes)) { expect(KernelSensorName(name.description) == name, "\(name)") }
      if let number = KernelSensorText.number(bytes) { expect(number.isFinite, "\(number)") }
      if case .thousandths(let number) = KernelSensorText.oneWire(bytes) { expect(number.isFinite, "\(number)") }
    },
    FuzzedDecoder(name: "endpoint", longest: 80) { bytes in _ = Endpoint(text(bytes)) },
    FuzzedDecoder(name: "bluetooth-uuid", longest: 64) { bytes in
      guard let uuid = BluetoothUUID(text(bytes)) else { return }
      expect(uuid.text.utf8.count == 36 && BluetoothUUID(uuid.text) == uuid, "\(uuid)")
    },
    FuzzedDecoder(name: "cpu-set", longest: 64) { bytes in
      guard let set = CPUSet(text(bytes)) else { return }
      expect(set.cpus == Array(Set(set.cpus)).sorted(), "\(set)")
    },
    FuzzedDecoder(name: "base64url", longest: 128) { bytes in
      guard let decoded = Base64URL.decode(bytes) else { return }
      expect(Base64URL.encode(decoded) == text(bytes), "\(text(bytes)) became \(decoded)")
    },
    FuzzedDecoder(name: "service-address", longest: 128) { bytes in
      guard let address = ServiceAddress(text(bytes)) else { return }
      expect((1...65_535).contains(address.port) && !address.host.isEmpty, "\(address)")
      let again = ServiceAddress((address.isSecure ? "https://" : "") + address.description)
      expect(again == address, "\(address) became \(String(describing: again))")
    },
    FuzzedDecoder(name: "instant", longest: 64) { bytes in
      guard let instant = try? WallTimeText.instant(text(bytes)) else { return }
      // Its year may be 0…9999, and an offset may lead out of that.
      guard (-62_135_596_800..<253_402_300_800).contains(instant.secondsSince1970) else { return }
      let again = WallTimeText.text(instant)
      expect((try? WallTimeText.instant(again)) == instant, "\(text(bytes)) became \(again)")
    },
    FuzzedDecoder(name: "zone-rule", longest: 96) { bytes in
      guard let rule = try? ZoneRuleText(text(bytes)) else { return }
      let rules = rule.rules(years: 2020...2030)
      for offset in [rules.firstOffsetSeconds] + rules.transitions.map(\.offsetSeconds) {
        expect((-93_600...93_600).contains(offset), "\(rule.text): \(offset)")
      }
    },
    FuzzedDecoder(name: "zone-file", longest: 512) { bytes in
      guard let file = try? ZoneFile(bytes: Array(bytes)) else { return }
      let rules = file.rules(name: nil, years: 2020...2030)
      for transition in rules.transitions {
        expect(rules.offsetSeconds(at: transition.at) == transition.offsetSeconds, "\(rules)")
      }
    },
  ]

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func written(_ value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .boolean(let isTrue): isTrue ? "true" : "false"
    case .number(let digits): digits
    case .text(let text): JSONText.quoted(text)
    case .list(let items): "[" + items.map(written).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { JSONText.quoted($0.name) + ":" + written($0.value) }.joined(separator: ",") + "}"
    }
  }
}
