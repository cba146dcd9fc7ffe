import Plants
import Sprinkler
import Tactus
import TactusGuard
import WallTime

/// What the daemon reads from files, addresses and another machine's answers.
extension FuzzedDecoder {
  static let daemon = [
    FuzzedDecoder(name: "swarm-history", longest: 300) { bytes in
      guard let history = try? SwarmHistory(text: text(bytes)) else { return }
      expect(zip(history.actions, history.actions.dropFirst()).allSatisfy { $0.at <= $1.at }, "\(history)")
      let again = try? SwarmHistory(text: history.description)
      expect(again == history, "\(history) became \(String(describing: again))")
    },
    FuzzedDecoder(name: "plant-user-file", longest: 300) { bytes in
      guard let file = PlantUserFile(json: text(bytes)) else { return }
      let again = PlantUserFile(json: file.json)
      // In the inner list apostrophes count as quotation marks.
      let isPlain = !file.entries.contains { entry in entry.sensors.contains { $0.contains("'") || $0.contains("\"") } }
      expect(!isPlain || again == file, "\(file) became \(String(describing: again))")
    },
    FuzzedDecoder(name: "log-position", longest: 64) { bytes in
      guard let position = LogPosition(text(bytes)) else { return }
      // One before 1970 has a minus sign, which is the separator, too.
      expect(position.start.secondsSince1970 < 0 || LogPosition(position.text) == position, "\(position)")
    },
    FuzzedDecoder(name: "write-ahead-log", longest: 2_048) { bytes in
      // Most inputs would end at the header's sums: the first byte says whether they are made right.
      guard let first = bytes.first else { return }
      var log = Array(bytes.dropFirst())
      if first & 1 == 1, log.count >= 32 { seal(&log, pageBytes: 512) }
      guard let flaw = log.withUnsafeBytes({ LogFlaw.find(in: $0) }) else { return }
      expect((0...log.count).contains(flaw.offset) && flaw.transactions >= 0, "\(flaw) of \(log.count) bytes")
      expect(flaw.offset == 0 || flaw.transactions > 0, "\(flaw)")
    },
    FuzzedDecoder(name: "tar-archive", longest: 4_096) { bytes in
      // Most inputs would end at the first header's sum, which is made right.
      var archive = Array(bytes)
      if archive.count >= 512 {
        archive.replaceSubrange(148..<156, with: repeatElement(UInt8(ascii: " "), count: 8))
        let sum = archive[..<512].reduce(0) { $0 + Int($1) }
        let digits = Array(String(sum, radix: 8).utf8)
        archive.replaceSubrange((154 - digits.count)..<154, with: digits)
      }
      guard let entries = try? TarArchive.decode(archive) else { return }
      // A name that is not UTF-8 may have become longer than the format takes.
      guard entries.allSatisfy({ (1...100).contains($0.name.utf8.count) }) else { return }
      let again = try? TarArchive.decode(TarArchive.encode(entries, at: 0))
      expect(again == entries, "\(entries) became \(String(describing: again))")
    },
    FuzzedDecoder(name: "safe-state-note", longest: 300) { bytes in
      guard let note = MadeSafe(note: text(bytes)) else { return }
      let again = MadeSafe(note: note.note())
      expect(again == note, "\(note) became \(String(describing: again))")
      expect(MadeSafe(note: note.note(isOver: true)) == nil, "\(note) is over, and counts")
    },
    FuzzedDecoder(name: "safe-state-plan", longest: 400) { bytes in
      switch SafeStatePlanText.contents(text(bytes), custom: ["radio"]) {
      case .whole(let writes):
        let again = SafeStatePlanText.contents(SafeStatePlanText.text(writes), custom: ["radio"])
        expect(again == .whole(writes), "\(writes) became \(again)")
      case .damaged(let writes, let reason): expect(!reason.isEmpty && writes.allSatisfy { $0.flaw == nil }, reason)
      case .missing: expect(false, "a text is no missing file")
      }
    },
    FuzzedDecoder(name: "smtp-replies", longest: 2_048) { bytes in
      var reader = SMTPReplyReader()
      do throws(SMTPReplyReader.Failure) {
        for byte in bytes { try reader.append(byte) }
      } catch {
        return
      }
      var replies = 0
      while let reply = reader.next() {
        replies += 1
        expect((200...599).contains(reply.code) && !reply.lines.isEmpty, "\(reply)")
        expect(reply.lines.count <= SMTPReplyReader.mostLines, "\(reply.lines.count) lines")
        expect(reply.lines.allSatisfy { $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } }, "\(reply)")
      }
      expect(replies <= SMTPReplyReader.mostLines, "\(replies) replies")
    },
    FuzzedDecoder(name: "weather-answer", longest: 300) { bytes in
      guard let first = bytes.first else { return }
      let days = Int(first % 16) + 1
      let past = PastWeatherAnswer.read(Array(bytes.dropFirst()), days: days)
      expect(past.days.count <= days && past.days.allSatisfy(\.date.exists), "\(past)")
      guard case .success(let answer) = WeatherAnswer.read(Array(bytes.dropFirst()), days: days) else { return }
      let rain = ExpectedRain(answer)
      expect(answer.days.count == days, "\(answer.days.count) days of \(days)")
      expect(rain.isWhole == answer.days.allSatisfy { $0.millimetres != nil }, "\(rain)")
      expect(rain.millimetres.map { $0.isFinite && $0 >= 0 } ?? !rain.isWhole, "\(rain)")
    },
    FuzzedDecoder(name: "soil-message", longest: 200) { bytes in
      for topic in [
        SoilTopic(name: "a"), SoilTopic(name: "a", member: "moisture"),
        SoilTopic(name: "a", member: "a.b", scale: -1e6, offsetPercent: 1e6),
      ] {
        guard let percent = try? SoilMessage.read(Array(bytes), topic) else { continue }
        expect((0...100).contains(percent), "\(percent)")
      }
    },
    FuzzedDecoder(name: "imported-schedules", longest: 1_000) { bytes in
      guard let file = try? ImportedFile.decode(Array(bytes)),
        let imported = try? ImportedSchedules([file], today: LocalDate(year: 2026, month: 7, day: 1))
      else { return }
      expect(imported.programs.count <= ImportedSchedules.most, "\(imported.programs.count) schedules")
      for program in imported.programs {
        expect((1...60).contains(program.name.count), "\(program)")
        expect(
          (1...8).contains(program.starts.count) && Set(program.starts).count == program.starts.count, "\(program)")
        expect(program.starts.allSatisfy(\.isPossible), "\(program)")
        expect((1...64).contains(program.steps.count), "\(program)")
        expect(program.steps.allSatisfy { (1...86_400).contains($0.seconds) }, "\(program)")
        if case .interval(let days, let from) = program.days {
          expect((1...365).contains(days) && from.exists && (1970...2199).contains(from.year), "\(program)")
        }
      }
    },
  ]

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Gives a write-ahead log a header and sums as SQLite writes them, and leaves the rest as it is.
  private static func seal(_ log: inout [UInt8], pageBytes: Int) {
    func put(_ word: UInt32, at offset: Int) {
      withUnsafeBytes(of: word.bigEndian) { log.replaceSubrange(offset..<offset + 4, with: $0) }
    }
    func word(_ offset: Int) -> UInt32 { log[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    var sums: (UInt32, UInt32) = (0, 0)
    func add(_ range: Range<Int>) {
      for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        sums.0 = sums.0 &+ word(offset) &+ sums.1
        sums.1 = sums.1 &+ word(offset + 4) &+ sums.0
      }
    }
    put(0x377F_0683, at: 0)
    put(UInt32(pageBytes), at: 8)
    add(0..<24)
    put(sums.0, at: 24)
    put(sums.1, at: 28)
    var start = 32
    while start + 24 + pageBytes <= log.count {
      // A frame whose first byte is odd is left as it is: damaged, or of an earlier round.
      guard log[start] & 1 == 0 else { return }
      put(word(16), at: start + 8)
      put(word(20), at: start + 12)
      add(start..<start + 8)
      add(start + 24..<start + 24 + pageBytes)
      put(sums.0, at: start + 16)
      put(sums.1, at: start + 20)
      start += 24 + pageBytes
    }
  }
}

extension StartTime {
  fileprivate var isPossible: Bool {
    switch self {
    case .clock(let minute): (0..<1_440).contains(minute)
    case .sunrise(let offset), .sunset(let offset): (-720...720).contains(offset)
    }
  }
}
