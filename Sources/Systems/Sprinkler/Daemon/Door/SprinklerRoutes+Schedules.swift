@_spi(FromOutside) import Conversions
import Foundation
import Service
import Sprinkler
import Store
import TactusDaemon
import WallTime
import Wire

// Schedules: list, change, run, look ahead.
extension SprinklerRoutes {
  var scheduleRoutes: [Route] {
    [
      Route(.get, "/api/schedules") { [self] _ in
        APIResponse(SchedulesAnswer(schedules: schedules()))
      }
      .answeringAllAlike(),
      Route(.post, "/api/schedules", scope: .control, action: "sprinkler.schedule-add") { [self] request in
        try await add(request)
      },
      // The requirement names the path without an id, so an app may give the id in the body.
      Route(.put, "/api/schedules", scope: .control, action: "sprinkler.schedule-change") { [self] request in
        let body = try request.decode(ScheduleBody.self)
        guard let id = body.id else { throw APIError.validation("id", expected: "a schedule's id", got: "nothing") }
        return try await change(try body.applied(to: try program("\(id)")), request.caller)
      },
      Route(.delete, "/api/schedules", scope: .control, action: "sprinkler.schedule-remove") { [self] request in
        let query = try QueryReader(request.query, names: ["id"])
        guard let id = try query.integer("id", in: 1...Int64(Int32.max)) else {
          throw APIError.validation("id", expected: "a schedule's id", got: "nothing")
        }
        return try await remove(try program("\(id)"), request.caller)
      },
      Route(.get, "/api/schedules/{id}") { [self] request in
        try answer(try program(request).id, isAction: false)
      },
      Route(.put, "/api/schedules/{id}", scope: .control, action: "sprinkler.schedule-change") { [self] request in
        try await change(request)
      },
      Route(.delete, "/api/schedules/{id}", scope: .control, action: "sprinkler.schedule-remove") { [self] request in
        try await remove(try program(request), request.caller)
      },
      Route(.post, "/api/schedules/{id}/duplicate", scope: .control, action: "sprinkler.schedule-add") {
        [self] request in
        var copy = try program(request)
        var name = "\(copy.name) copy".suffix(60)
        while name.utf8.count > GivenName.mostBytes(ofCharacters: 60) { name.removeFirst() }
        copy.name = String(name)
        copy.alias = nil
        // The copy is disabled at first, because two equal schedules would water twice.
        copy.isEnabled = false
        let result = try await desk.perform(.addProgram(copy), request.caller)
        return try answer(result.programs.first, status: .created)
      },
      Route(.post, "/api/schedules/{id}/run", scope: .control, action: "sprinkler.schedule-run") { [self] request in
        try desk.refuseIfStopped()
        let present = try program(request)
        let result = try await desk.perform(.runProgram(id: present.id), request.caller)
        return APIResponse(
          RunsAnswer(runs: result.runs, warning: rainWarning(result)), logValue: "schedule=\(present.id)")
      },
      Route(.post, "/api/schedules/reorder", scope: .control, action: "sprinkler.schedule-order") { [self] request in
        let ids = try order(try request.decode(ReorderBody.self, listAs: "ids"))
        _ = try await desk.perform(.orderPrograms(ids), request.caller)
        return APIResponse(SchedulesAnswer(schedules: schedules()), logValue: "ids=\(ids)")
      },
      Route(.get, "/api/schedules/preview") { [self] request in
        let query = try QueryReader(request.query, names: ["count"])
        let preview = try await desk.preview(count: Int(clamping: try query.integer("count", in: 1...1000) ?? 10))
        return APIResponse(PreviewAnswer(timeZone: description.timeZone.identifier, preview: preview))
      },
      Route(.post, "/api/schedules/preview") { [self] request in
        let query = try QueryReader(request.query, names: ["count", "only"])
        let count = Int(clamping: try query.integer("count", in: 1...1000) ?? 10)
        let isAlone = try query.word("only", among: ["draft"]) != nil
        let preview = try await desk.preview(draft: try draft(request), count: count, isAlone: isAlone)
        return APIResponse(DraftAnswer(timeZone: description.timeZone.identifier, preview))
      }
      .onlyLooking(),
      Route(.get, "/api/sprinkler.ics") { [self] request in
        let query = try QueryReader(request.query, names: ["count"])
        let preview = try await desk.preview(count: Int(clamping: try query.integer("count", in: 1...1000) ?? 100))
        let zones = desk.view.records.zones.reduce(into: [:]) { $0[$1.id] = $1.name }
        let calendar = WateringCalendar(
          starts: preview.starts, zones: zones, machine: HostRules.machineName, now: desk.wallNow)
        return APIResponse(contentType: "text/calendar; charset=utf-8", body: Array(calendar.text.utf8))
      },
      Route(.get, "/api/schedules/export") { [self] _ in
        var response = APIResponse(ScheduleExport(schedules: schedules()))
        response.headers[.contentDisposition] = #"attachment; filename="schedules.json""#
        return response
      }
      .answeringAllAlike(),
      Route(.post, "/api/schedules/import", scope: .control, action: "sprinkler.schedule-import") { [self] request in
        let programs = try request.decode(ScheduleImportBody.self, listAs: "schedules").programs()
        let result = try await desk.perform(.importPrograms(programs), request.caller)
        let ids = result.programs
        return APIResponse(
          SchedulesAnswer(schedules: schedules().filter { ids.contains($0.id) }),
          logValue: "schedules=\(ids.count)")
      },
      Route(.get, "/api/seasonal") { [self] _ in seasonal() },
      Route(.put, "/api/seasonal", scope: .control, action: "sprinkler.seasonal") { [self] request in
        let levels = try request.decode(SeasonalBody.self).applied(to: desk.view.records.levels)
        _ = try await desk.perform(.setLevels(levels), request.caller)
        return seasonal(logValue: "percent=\(levels.seasonalPercent)")
      },
    ]
  }

  private func add(_ request: APIRequest) async throws -> APIResponse {
    switch try request.decode(EitherScheduleBody.self) {
    case .own(let body): return try await add(try body.applied(to: nil), status: .created, request.caller)
    case .original(let body):
      guard let present = body.alias.flatMap(find) else {
        return try await add(try original(body, changing: nil), status: .created, request.caller)
      }
      // The app repeats a request to which it got no answer, so an equal schedule is no conflict.
      guard try original(body, changing: present) == present else {
        throw APIError.conflict("SCHEDULE_EXISTS", "there is a schedule \(body.alias ?? "") already")
      }
      return try answer(present.id)
    }
  }

  /// Returns the schedule that a body drafts: with the number of the one that it would replace, or 0 if it would be a new one.
  private func draft(_ request: APIRequest) throws(APIError) -> Program {
    switch try request.decode(EitherScheduleBody.self) {
    case .own(let body):
      var program = try body.applied(to: nil)
      if let id = body.id { program.id = try self.program("\(id)").id }
      return program
    case .original(let body): return try original(body, changing: body.id.flatMap(find))
    }
  }

  /// Changes a schedule; missing members leave the property unchanged. Clients of the original backend may name a schedule that does not exist
  /// yet, which is then added.
  private func change(_ request: APIRequest) async throws -> APIResponse {
    let name = request.parameters["id"] ?? ""
    switch try request.decode(EitherScheduleBody.self) {
    case .own(let body):
      let present = try program(name)
      if let id = body.id, id != present.id {
        throw APIError.validation("id", expected: "\(present.id), as in the path", got: "\(id)")
      }
      return try await change(try body.applied(to: present), request.caller)
    case .original(let body):
      let present = find(name)
      if let id = body.id, id != name, present == nil || find(id)?.id != present?.id {
        throw APIError.validation("id", expected: "\(name.prefix(64)), as in the path", got: id)
      }
      if let present { return try await change(try original(body, changing: present), request.caller) }
      // Numbers are assigned by the daemon, so a client cannot choose a new one.
      guard Int(name) == nil else { throw unknown(name) }
      var program = try original(body, changing: nil)
      program.alias = name
      return try await add(program, status: .ok, request.caller)
    }
  }

  private func original(_ body: LegacyScheduleBody, changing present: Program?) throws(APIError) -> Program {
    guard description.hasLegacyRoutes else {
      throw .validation(
        "startTimes", expected: "the API's members (the original backend's are taken with sprinkler.legacy_routes)",
        got: "start_time, sequence or is_enabled")
    }
    return try body.program(present, zones: desk.view.records.zones) { clock($0, daysFromToday: $1) }
  }

  /// Returns the numbers of all schedules in the client's order. The client must name each once, except that the original app, which sends texts, may
  /// omit some and name some that no longer exist.
  private func order(_ body: ReorderBody) throws(APIError) -> [Int] {
    let programs = desk.view.records.programs
    let ids = body.ids.map { find($0)?.id ?? 0 }
    if body.isOriginal, description.hasLegacyRoutes { return programs.inOrder(of: ids, by: \.id).map(\.id) }
    guard ids.sorted() == programs.map(\.id).sorted() else {
      throw .validation(
        "ids", expected: "every schedule's id once (\(programs.map { "\($0.id)" }.joined(separator: ", ")))",
        got: body.ids.joined(separator: ", "))
    }
    return ids
  }

  private func add(
    _ program: Program, status: HTTPStatus, _ caller: Caller
  ) async throws -> APIResponse {
    let result = try await desk.perform(.addProgram(program), caller)
    return try answer(result.programs.first, status: status)
  }

  private func change(_ program: Program, _ caller: Caller) async throws -> APIResponse {
    _ = try await desk.perform(.replaceProgram(program), caller)
    return try answer(program.id)
  }

  private func remove(_ present: Program, _ caller: Caller) async throws -> APIResponse {
    _ = try await desk.perform(.removeProgram(id: present.id), caller)
    return done(logValue: "schedule=\(present.id)")
  }

  private func program(_ request: APIRequest) throws(APIError) -> Program {
    try program(request.parameters["id"] ?? "")
  }

  private func program(_ text: String) throws(APIError) -> Program {
    guard let program = find(text) else { throw unknown(text) }
    return program
  }

  /// Returns the schedule with this alias or number, or `nil` if no schedule has it.
  private func find(_ name: String) -> Program? {
    let programs = desk.view.records.programs
    return programs.first { $0.alias == name } ?? Int(name).flatMap { id in programs.first { $0.id == id } }
  }

  private func unknown(_ name: String) -> APIError {
    .notFound("no schedule \(name.prefix(20)); GET /api/schedules lists them")
  }

  private func schedules() -> [ScheduleAnswer] {
    let view = desk.view
    return view.records.programs.map { ScheduleAnswer(program: $0, next: view.nextRuns[$0.id]) }
  }

  private func answer(_ id: Int?, status: HTTPStatus = .ok, isAction: Bool = true) throws(APIError) -> APIResponse {
    guard let schedule = schedules().first(where: { $0.id == id }) else {
      throw APIError.conflict("GONE", "somebody else has removed the schedule")
    }
    return APIResponse(
      schedule, status: status,
      logValue: isAction ? "schedule=\(schedule.id) next=\(schedule.nextStartISO ?? "none")" : nil)
  }

  private func seasonal(logValue: String? = nil) -> APIResponse {
    let seen = seen()
    return APIResponse(
      SeasonalAnswer(levels: seen.view.records.levels, effectivePercent: seen.seasonalPercent), logValue: logValue)
  }
}

// The watering log, backup and restore.
extension SprinklerRoutes {
  /// The size of the largest file that `restore` accepts, in bytes.
  static let longestBackup = 256 << 20

  /// The part of the store that is backed up and restored here.
  private static let part: Set = [StoreSystem.sprinkler.name]

  var recordRoutes: [Route] {
    var restore = Route(.post, "/api/sprinkler/restore", scope: .admin, action: "sprinkler.restore") {
      [self] request in
      guard !request.body.isEmpty else {
        throw APIError(
          .badRequest, "BODY_MISSING", "expected the file that GET /api/sprinkler/backup gave, got nothing")
      }
      let backup = try desk.store.file.checked(request.body, parts: Self.part, at: desk.wallNow)
      try await desk.restore(backup, request.caller)
      return done(logValue: "bytes=\(request.body.count)")
    }
    restore.fileLimit = Self.longestBackup
    let short = [
      Route(.get, "/api/log") { [self] request in try log(request) },
      Route(.get, "/api/log.csv") { [self] request in try logCSV(request) },
    ]
    let long = [
      Route(.get, "/api/sprinkler/backup", scope: .admin, action: "sprinkler.backup") { [self] _ in
        let bytes = try stored { () throws(StoreError) in try desk.store.file.backup(parts: Self.part) }
        return APIResponse(
          contentType: "application/vnd.sqlite3",
          headers: [.contentDisposition: #"attachment; filename="tactus-sprinkler.sqlite""#], body: bytes,
          logValue: "bytes=\(bytes.count)")
      },
      restore,
    ]
    return short.map { $0.waitingForDisk() } + long.map { $0.waitingForDisk(longest: DiskThreads.longPatience) }
  }

  private static let names = ["since", "until", "zone", "schedule", "order"]

  private func log(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names + ["limit", "after"])
    let after = try request.query["after"].map { text throws(APIError) in
      guard let position = LogPosition(text) else {
        throw APIError.validation("after", expected: "the next of the page before", got: "\"\(text.prefix(40))\"")
      }
      return position
    }
    let (which, limit) = (try logQuery(query, newestFirst: true), try query.integer("limit", in: 1...1000))
    let page = try stored { () throws(StoreError) in
      try desk.store.log(which, after: after, limit: Int(limit ?? 100))
    }
    return APIResponse(LogAnswer(page: page))
  }

  private func logCSV(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names)
    return .csv(
      desk.store.logCSV(try logQuery(query, newestFirst: false), zone: description.timeZone), file: "watering-log.csv")
  }

  private func logQuery(_ query: QueryReader, newestFirst: Bool) throws(APIError) -> LogQuery {
    let zone = try query.integer("zone", in: 1...Int64(ZoneID.maximum))
    return LogQuery(
      since: try query.instant("since"), until: try query.instant("until"),
      zone: zone.flatMap { ZoneID(Int($0)) },
      program: try query.integer("schedule", in: 1...Int64(Int32.max)).map { Int($0) },
      newestFirst: try query.word("order", among: ["newest", "oldest"]).map { $0 == "newest" } ?? newestFirst)
  }
}
