import Tactus
import TestSupport
import Testing

@testable import Plants

/// Who asks too often, and acknowledgements that an app throws back.
@Suite("Plant-Tracker host, spam and bounces", .ownThread) struct PlantHostSpamTests {
  @Test("spam: the sixteenth message of 15 s is told so once, others are not touched; after 15 s all is well")
  func spam() {
    var bench = HostBench()
    bench.host.settings.spamLimit = 15
    for second in 0..<15 {
      bench.now = TickInstant.zero + .milliseconds(Int64(second) * 900)
      #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 0"])
    }
    #expect(bench.ask("REQ_numPlants", "") == ["ERR_kickedForSpam none"])
    // Broken messages count, too.
    #expect(bench.step("ID:0;sender:6F2A;receiver:all").outcome == .spam)
    #expect(bench.ask("REQ_numPlants", "", from: "other") == ["RES_numPlants 0"])
    bench.now = TickInstant.zero + .milliseconds(14_999)
    #expect(bench.ask("REQ_numPlants", "") == [])
    bench.now = TickInstant.zero + .seconds(15)
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 0"])
  }

  @Test("spam: reports of errors never count, whole or broken, before the limit and beyond it")
  func errorsAreFree() {
    var bench = HostBench()
    bench.host.settings.spamLimit = 2
    for round in 0..<40 {
      let whole = bench.step("ID:0;sender:6F2A;receiver:all;payload:x;operation:ERR_x")
      #expect(whole.outcome == .peerError(operation: "ERR_x", payload: "x") && whole.replies == [], "\(round)")
      let broken = bench.step("ID:0;sender:6F2A;receiver:all;operation:ERR_x")
      #expect(broken.outcome == .peerError(operation: "ERR_x", payload: "") && broken.replies == [], "\(round)")
      if round == 20 {
        for _ in 0..<2 { #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 0"]) }
        #expect(bench.ask("REQ_numPlants", "") == ["ERR_kickedForSpam none"])
      }
    }
  }

  @Test(
    "the app: its start and four renames within 15 s, with any number of plants, all of them shown", arguments: 1...7)
  func startAndRename(plants: Int) {
    var bench = HostBench()
    for number in 1...plants { bench.add("Plant \(number)") }
    bench.host.settings.spamLimit = 15
    /// What the app does when it connects, and after every change.
    func refresh() {
      #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants \(plants)"])
      for index in 0..<plants {
        let info = bench.ask("REQ_plantInfoOnStartup", "\(index)")
        #expect(info.first?.hasPrefix("RES_plantInfoOnStartup {") == true, "\(info)")
      }
    }
    refresh()
    for round in 1...4 {
      let replies = bench.ask("REQ_editPlant", "\(round == 1 ? "Plant 1" : "Name \(round - 1)"),Name \(round)")
      // Bounced once, it does not come again.
      #expect(replies == (round == 1 ? ["RES_editPlant Name 1"] : []))
      if round == 1 {
        let echo = "ID--1||sender--Host-RPI3B+||receiver--6F2A||payload--Name 1||operation--RES_editPlant"
        #expect(bench.ask("ERR_invalidOpTag", echo) == [])
      }
      refresh()
    }
  }

  @Test("spam: of the infos of plants only those are free that an answer has announced, once each")
  func announcedInfos() {
    var bench = HostBench()
    bench.add("Basil")
    bench.add("Mint")
    bench.host.settings.spamLimit = 3
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 2"])
    for _ in 0..<4 { #expect(bench.ask("REQ_plantInfoOnStartup", "0").first?.hasPrefix("RES_") == true) }
    #expect(bench.ask("REQ_plantInfoOnStartup", "0") == ["ERR_kickedForSpam none"])
    #expect(bench.ask("REQ_plantInfoOnStartup", "0", from: "other").first?.hasPrefix("ERR_noPlantData") == true)
  }

  @Test("bounced: that acknowledgement does not go to that client again; others do, and errors are still told")
  func bounced() {
    var bench = HostBench()
    func bounce(_ operation: String, sender: String = "Host-RPI3B+", receiver: String = "6F2A", from: String = "6F2A") {
      let echo = "ID--1||sender--\(sender)||receiver--\(receiver)||payload--Basil||operation--\(operation)"
      #expect(bench.ask("ERR_invalidOpTag", echo, from: from) == [])
    }
    #expect(bench.ask("REQ_addNewPlant", "Basil--[\"0x36\"]") == ["RES_addNewPlant Basil"])
    bounce("RES_addNewPlant")
    #expect(bench.ask("REQ_addNewPlant", "Mint--[\"0x36\"]") == [])
    #expect(bench.ask("REQ_addNewPlant", "Mint--[\"0x36\"]").first?.hasPrefix("ERR_plantNameTaken") == true)
    #expect(bench.ask("REQ_addNewPlant", "Basil--[\"0x36\"]", from: "other") == ["RES_addNewPlant Basil"])
    #expect(bench.ask("REQ_editPlant", "Mint,Rose") == ["RES_editPlant Rose"])
    // Not of ours, of somebody else's, no acknowledgement at all.
    bounce("RES_editPlant", sender: "Another host")
    bounce("RES_editPlant", receiver: "other")
    bounce("RES_numPlants")
    bounce("RES_editPlant", from: "other")
    #expect(bench.ask("REQ_editPlant", "Rose,Mint") == ["RES_editPlant Mint"])
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 2"])
    #expect(bench.ask("REQ_deletePlant", "Mint") == ["RES_deletePlant Mint"])
  }

  @Test("bounced: of more clients than are remembered the first is forgotten")
  func boundedBounces() {
    var bounces = PlantBounces()
    for number in 0...PlantBounces.capacity { bounces.note(.editPlant, of: PlantUser(sender: "app\(number)")) }
    #expect(!bounces.has(.editPlant, of: PlantUser(sender: "app0")))
    #expect(bounces.has(.editPlant, of: PlantUser(sender: "app1")))
    #expect(!bounces.has(.addNewPlant, of: PlantUser(sender: "app1")))
  }

  @Test("spam: of more clients than are remembered the one whose window began first is forgotten")
  func boundedWindows() {
    var windows = PlantSpamWindows()
    for number in 0..<5_000 as Range<Int64> {
      let user = PlantUser(sender: "app\(number)")
      _ = windows.count(user, limit: 15, window: .seconds(15), at: .zero + .milliseconds(number))
    }
    // Private, as nobody else needs it.
    let kept = Mirror(reflecting: windows).descendant("windows") as? any Collection
    #expect(kept?.count == PlantSpamWindows.capacity)
  }

  @Test("spam: with a window for each of 5,000 clients memory is bounded and the newest are still held to the limit")
  func manyClients() {
    var bench = HostBench()
    bench.host.settings.spamLimit = 2
    for client in 0..<5_000 {
      bench.now = TickInstant.zero + .microseconds(Int64(client))
      for _ in 0..<2 { #expect(bench.ask("REQ_numPlants", "", from: "c\(client)").count == 1) }
      #expect(bench.ask("REQ_numPlants", "", from: "c\(client)") == ["ERR_kickedForSpam none"])
    }
  }
}
