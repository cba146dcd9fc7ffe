import Testing
import WallTime

@Suite("The machine's time zone")
struct MachineZoneTests {
  /// 1 December 2026, 00:00 UTC.
  private static let now = instant(2026, 12, 1)

  private static func instant(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0
  ) -> WallInstant {
    let days = LocalDate(year: year, month: month, day: day).daysSince1970
    return WallInstant(secondsSince1970: Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60))
  }

  /// A file without listed changes: one offset, and the rule at its end.
  private static func file(offset: Int32, rule: String, leapSeconds: UInt8 = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ number: Int32) {
      for shift: Int32 in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    for types: Int32 in [0, 1] {
      bytes += Array("TZif2".utf8)
      bytes += [UInt8](repeating: 0, count: 15)
      for count in [0, 0, types * Int32(leapSeconds), 0, types, types * 4] { add(count) }
    }
    add(offset)
    bytes += Array("\0\0XXX\0".utf8)
    bytes += [UInt8](repeating: 0, count: Int(leapSeconds) * 12)
    bytes += Array("\n\(rule)\n".utf8)
    return bytes
  }

  private static let kathmandu = file(offset: 20_700, rule: "<+0545>-5:45")
  private static let berlin = file(offset: 3_600, rule: "CET-1CEST,M3.5.0,M10.5.0/3")

  private static func find(
    _ environment: [String: String], _ files: [String: [UInt8]] = [:], link: String? = nil
  ) throws(MachineZone.Failure) -> MachineZone {
    let database = [
      "/usr/share/zoneinfo/Asia/Kathmandu": kathmandu, "/usr/share/zoneinfo/Europe/Berlin": berlin,
      "/usr/share/zoneinfo/right/Europe/Berlin": file(offset: 3_600, rule: "CET-1", leapSeconds: 27),
    ]
    return try MachineZone.find(
      .init(
        environment: environment, contents: { files[$0] ?? database[$0] },
        destination: { $0 == "/etc/localtime" ? link : nil }))
  }

  @Test(
    "TZ in every form: the offset is the C library's, and a name is kept",
    arguments: [
      (":Asia/Kathmandu", "Asia/Kathmandu", 20_700), ("Asia/Kathmandu", "Asia/Kathmandu", 20_700),
      ("<+0545>-5:45", "+05:45", 20_700), (":<+0545>-5:45", "+05:45", 20_700),
      ("/usr/share/zoneinfo/Asia/Kathmandu", "Asia/Kathmandu", 20_700),
      ("NZST-12NZDT,M9.5.0,M4.1.0/3", "NZST-12NZDT,M9.5.0,M4.1.0/3", 46_800), ("Europe/Berlin", "Europe/Berlin", 3_600),
      ("UTC0", "+00:00", 0), ("", "UTC", 0), (":", "UTC", 0), ("EST5", "-05:00", -18_000), ("UTC", "UTC", 0),
      ("EST5EDT,0/0,J365/25", "-04:00", -14_400), ("ABC-1:30:15", "+01:30:15", 5_415),
    ])
  func forms(_ text: String, _ name: String, _ offset: Int) throws {
    let zone = try Self.find(["TZ": text], ["/etc/localtime": Self.berlin])
    #expect(zone.rules.identifier == name && zone.source == "TZ")
    #expect(zone.rules.offsetSeconds(at: Self.now) == offset)
    #expect(zone.rules.isNamed == (name.contains("/") && !name.contains(",") || name == "UTC"))
  }

  @Test(
    "TZ that is none of the forms: refused in words, never replaced",
    arguments: [
      ("Europe/Berln", "Europe/Berlin?"), ("/nowhere", "none can be read"),
      ("NZST-12NZDT", "the dates of both changes"),
      ("<+5>-5", "at least three letters"), ("UTC+25", "at most 24 hours"),
      ("AAA0BBB,M13.1.0,M4.1.0", "a month 1 to 12"),
      ("AAA0BBB,J0,J1", "a day 1 to 365"), ("AAA0BBB,M3.1.0/168,M4.1.0", "at most 167 hours"), ("AAA0 ", "summer time"),
      ("AAA0BBB,M3.1.0,M4.1.0,", "the end of the rule"), ("AAA1:60", "0 to 59"),
      ("right/Europe/Berlin", "without leap seconds"), ("/etc/hosts", "expected a time zone file"),
    ])
  func refused(_ text: String, _ said: String) {
    let files = ["/etc/localtime": Self.berlin, "/etc/hosts": Array("127.0.0.1 localhost".utf8)]
    let error = #expect(throws: MachineZone.Failure.self) { try Self.find(["TZ": text], files) }
    let words = error?.description ?? ""
    #expect(words.hasPrefix("TZ=\(text): ") && words.contains(said), "\(words)")
  }

  @Test("a rule's changes: weeks of months, days with and without 29 February, times before and behind their day")
  func changes() throws {
    func changes(_ text: String, _ year: Int) throws -> [ZoneRules.Transition] {
      let all = try ZoneRuleText(text).rules().transitions
      return all.filter { Self.instant(year, 1, 1) <= $0.at && $0.at < Self.instant(year + 1, 1, 1) }
    }
    // Sundays: the last of September, 02:00 by +12:00; the first of April, 03:00 by +13:00.
    let south = try changes("NZST-12NZDT,M9.5.0,M4.1.0/3", 2026)
    #expect(south.map(\.at) == [Self.instant(2026, 4, 4, 14), Self.instant(2026, 9, 26, 14)])
    #expect(south.map(\.offsetSeconds) == [43_200, 46_800])
    // 23:00 of the day before the last Sunday of March, by -02:00.
    let west = try changes("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2026)
    #expect(west.map(\.at) == [Self.instant(2026, 3, 29, 1), Self.instant(2026, 10, 25, 1)])
    #expect(west.map(\.offsetSeconds) == [-3_600, -7_200])
    // 2024 has a 29 February: J60 is 1 March in each year, 59 is that day.
    let julian = try changes("AAA0BBB,J60/0,J300/0", 2024)
    #expect(julian.map(\.at) == [Self.instant(2024, 3, 1), Self.instant(2024, 10, 26, 23)])
    let counted = try changes("AAA0BBB,59/0,299/0", 2024)
    #expect(counted.map(\.at) == [Self.instant(2024, 2, 29), Self.instant(2024, 10, 25, 23)])
    let beyond = try changes("AAA0BBB,59/26,299/-2:30", 2023)
    #expect(beyond.map(\.at) == [Self.instant(2023, 3, 2, 2), Self.instant(2023, 10, 26, 20, 30)])
    #expect(try changes("AAA0BBB2,J60/0,J300/0", 2024).map(\.offsetSeconds) == [-7_200, 0])
  }

  @Test("in words: name, offset, where it comes from, and the next change")
  func words() throws {
    let south = try Self.find(["TZ": "NZST-12NZDT,M9.5.0,M4.1.0/3"]).summary(at: Self.now)
    let name = "NZST-12NZDT,M9.5.0,M4.1.0/3"
    #expect(south == "\(name), UTC+13:00, from TZ, next change of its offset 2027-04-04 02:00 +12:00")
    let fixed = try Self.find(["TZ": "<+0545>-5:45"]).summary(at: Self.now)
    #expect(fixed == "+05:45, UTC+05:45, from TZ, no change of its offset")
  }

  @Test("/etc/localtime: its contents count, and what disagrees is said")
  func files() throws {
    func found(_ contents: [UInt8]?, timezone: String?, link: String? = nil) throws -> MachineZone {
      var files: [String: [UInt8]] = [:]
      files["/etc/localtime"] = contents
      files["/etc/timezone"] = timezone.map { Array("\($0)\n".utf8) }
      return try Self.find([:], files, link: link)
    }
    let link = "../usr/share/zoneinfo/Europe/Berlin"
    let linked = try found(Self.berlin, timezone: "Europe/Berlin", link: link)
    #expect(linked.rules.identifier == "Europe/Berlin" && linked.source == "/etc/localtime" && linked.remark == nil)
    #expect(linked.rules.nextTransition(after: Self.now)?.at == Self.instant(2027, 3, 28, 1))

    let other = try found(Self.berlin, timezone: "Asia/Kathmandu", link: link)
    #expect(other.rules.identifier == "Europe/Berlin")
    #expect(other.remark == "/etc/timezone says Asia/Kathmandu, but /etc/localtime is Europe/Berlin, which counts")

    let copied = try found(Self.kathmandu, timezone: "Asia/Kathmandu")
    #expect(copied.rules.identifier == "Asia/Kathmandu" && copied.remark == nil)

    let wrong = try found(Self.kathmandu, timezone: "Europe/Berlin")
    #expect(wrong.rules.identifier == "+05:45" && !wrong.rules.isNamed)
    #expect(wrong.remark == "/etc/timezone says Europe/Berlin, but /etc/localtime has other contents, which counts")

    let nameless = try found(Self.berlin, timezone: nil)
    #expect(nameless.rules.identifier == "CET-1CEST,M3.5.0,M10.5.0/3" && !nameless.rules.isNamed)
    #expect(nameless.remark == "/etc/localtime is a file without a name: its contents count")
    #expect(nameless.rules.offsetSeconds(at: Self.instant(2026, 7, 1)) == 7_200)

    let none = try found(nil, timezone: "Europe/Berlin")
    #expect(none.rules == .utc && none.source == "the default")
    let said = "/etc/localtime cannot be read, which stands for UTC, although /etc/timezone says Europe/Berlin"
    #expect(none.remark == said)

    #expect(throws: MachineZone.Failure.self) { try Self.find([:], ["/etc/localtime": Array("nonsense".utf8)]) }
  }

  @Test("a file: every beginning of it and every changed byte is a zone or an error, never a trap")
  func damaged() {
    for bytes in [Self.kathmandu, Self.berlin] {
      for count in 0..<bytes.count {
        _ = try? ZoneFile(bytes: Array(bytes.prefix(count))).rules(name: nil)
        for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
          var changed = bytes
          changed[count] = byte
          _ = try? ZoneFile(bytes: changed).rules(name: nil)
        }
      }
    }
  }
}
