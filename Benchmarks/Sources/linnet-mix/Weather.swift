import Foundation
import Linnet
import Synchronization

/// What is done to the lanes, and when: an error without a cause among it is a lost request.
final class Weather: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Something that is done to a lane for a while.
    struct Spell: Sendable {
        let lane: Lane.Name
        let name: String
        /// The errors that it explains.
        let codes: Set<SessionError.Code>
        let start: Instant
        var end: Instant?
    }

    /// Losing a connection, or not getting one.
    static let losses: Set<SessionError.Code> = [.connectionLost, .connectionFailed, .tlsFailed]
    private static let memory = Duration.seconds(240)

    private struct State {
        var next = 0
        var spells: [Int: Spell] = [:]
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Notes that something begins. Returns its number.
    func begin(_ name: String, on lane: Lane.Name, explains codes: Set<SessionError.Code>) -> Int {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.spells = state.spells.filter { $0.value.end.map { now - $0 < Self.memory } ?? true }
            state.next += 1
            state.counts[name, default: 0] += 1
            state.spells[state.next] = Spell(lane: lane, name: name, codes: codes, start: now)
            return state.next
        }
    }

    /// Notes that it has ended, and how long it may still have effects.
    func end(_ number: Int, effects rest: Duration = .zero) {
        let now = ContinuousClock.now
        state.withLock { $0.spells[number]?.end = now + rest }
    }

    /// Counts something that explains no error.
    func count(_ name: String) { state.withLock { $0.counts[name, default: 0] += 1 } }

    var counts: [String: Int] { state.withLock { $0.counts } }

    /// The cause of an error in an operation of this time; nil when there is none.
    func cause(of code: SessionError.Code, on lane: Lane.Name, since start: Instant) -> String? {
        state.withLock { state in
            state.spells.values.first {
                $0.lane == lane && $0.codes.contains(code) && $0.end.map { $0 >= start } ?? true
            }?.name
        }
    }

    static let refusal = "wrong pins"

    /// Whether the pins were wrong for all of an operation that ends now, so that no connection may have served it.
    func refusesAll(on lane: Lane.Name, since start: Instant) -> Bool {
        state.withLock { state in
            state.spells.values.contains {
                $0.lane == lane && $0.name == Self.refusal && $0.end == nil && $0.start < start
            }
        }
    }
}
