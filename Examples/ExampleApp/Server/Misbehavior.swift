import ArgumentParser
import LinnetTesting

/// A deliberate fault of the embedded server, which makes a state of the app visible. Each is an option of the command
/// line.
enum Misbehavior: String, EnumerableFlag {
    case offline, slow, flaky, badPin, chaos

    /// The faults of connections and requests.
    static func faults(of misbehavior: [Misbehavior]) -> MockServer.FaultPlan {
        let start = ContinuousClock.now
        return MockServer.FaultPlan { occasion in
            let active = active(of: misbehavior, after: .now - start)
            guard let request = occasion.request else {
                return active.contains(.offline) ? [MockServer.Fault(.reset, at: .connect)] : []
            }
            let delay = MockServer.Fault(.delay(.milliseconds(1500)), at: .responseHead)
            let reset = MockServer.Fault(.reset, at: .responseHead)
            let isThird = (request.connectionIndex + request.exchangeIndex) % 3 == 0
            // With chaos, a connection can be older than the outage.
            let isReset = active.contains(.offline) || active.contains(.flaky) && isThird
            return (active.contains(.slow) ? [delay] : []) + (isReset ? [reset] : [])
        }
    }

    /// The faults some time after the start: chaos has none for five seconds, and then one of three at a time.
    static func active(of misbehavior: [Misbehavior], after time: Duration) -> [Misbehavior] {
        guard misbehavior.contains(.chaos) else { return misbehavior }
        let phases: [[Misbehavior]] = [[], [.slow], [.flaky], [.offline]]
        return phases[Int(time / .seconds(5)) % phases.count]
    }
}
