import Foundation
import Linnet

/// Draws what is done to the lanes.
struct Forecast {
    let lanes: [Lane]
    let weather: Weather
    let link: Link?
    var random: Random

    /// Does something that is drawn.
    mutating func next() async throws {
        let lane = random.pick(lanes)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: try await restart(lane)
        case 20..<45: try swap(lane)
        case 45..<57: try await refuse(lane)
        case 57..<72: try await slowProxy()
        case 72..<84: try await linkDown()
        case 84..<92:
            weather.count("connections retired")
            lane.session.retireConnections()
        default:
            weather.count("idle connections closed")
            lane.session.closeIdleConnections()
        }
    }

    private func restart(_ lane: Lane) async throws {
        // With another key, the new server is refused until the pins are replaced.
        let spell = weather.begin(
            "server killed", on: lane.name, explains: Weather.losses.union([.timeout, .trustRefused]))
        try lane.restart()
        weather.end(spell, effects: lane.name == .link ? .seconds(3) : .milliseconds(300))
    }

    private mutating func swap(_ lane: Lane) throws {
        guard lane.name.hasTLS else { return }
        weather.count("policy swapped")
        try lane.use(random.pick(Lane.Policy.allCases))
    }

    private mutating func refuse(_ lane: Lane) async throws {
        guard lane.name.hasTLS else { return }
        let pause = Duration.milliseconds(Int.random(in: 100..<600, using: &random))
        let around = weather.begin("policy refused", on: lane.name, explains: [.trustRefused])
        try lane.refuse()
        let spell = weather.begin(Weather.refusal, on: lane.name, explains: [])
        try await Task.sleep(for: pause)
        weather.end(spell)
        try lane.use(.pin)
        weather.end(around, effects: .milliseconds(300))
    }

    private mutating func slowProxy() async throws {
        guard let lane = lanes.first(where: { $0.name == .proxy }) else { return }
        let latency = random.pick([0, 1, 5, 30])
        let rate = random.pick([0, 0, 1 << 20, 8 << 20])
        let cut = random.pick([0, 1000, 50_000, 1 << 20])
        let codes: Set<SessionError.Code> = cut > 0 ? Weather.losses : []
        let spell = weather.begin(cut > 0 ? "proxy cuts" : "proxy delays", on: lane.name, explains: codes)
        lane.tellServer("\(latency) \(rate) \(cut)")
        try await Task.sleep(for: .milliseconds(Int.random(in: 500..<2500, using: &random)))
        lane.tellServer("0 0 0")
        weather.end(spell, effects: .milliseconds(300))
    }

    private mutating func linkDown() async throws {
        guard let link else { return }
        // Some outages are shorter than the timeouts, some are longer.
        let outage = Duration.milliseconds(random.pick([300, 1000, 2500, 9000]))
        let spell = weather.begin("link down", on: .link, explains: Weather.losses.union([.timeout]))
        link.set(up: false)
        try await Task.sleep(for: outage)
        link.set(up: true)
        // TCP sends again after pauses that are as long as the outage.
        weather.end(spell, effects: outage * 2 + .seconds(2))
    }
}
