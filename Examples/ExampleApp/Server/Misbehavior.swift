import Linnet
import LinnetTesting

/// The deliberate faults of the embedded server, which make each state of the app visible.
struct Misbehavior: OptionSet, Sendable {
    let rawValue: Int

    /// No connection can be opened, and the app sees no network.
    static let offline = Misbehavior(rawValue: 1)
    /// Responses begin late, and bodies are sent and read slowly.
    static let slow = Misbehavior(rawValue: 2)
    /// The connection is reset instead of every third response.
    static let flaky = Misbehavior(rawValue: 4)
    /// The server has a key that the app does not pin.
    static let badPin = Misbehavior(rawValue: 8)

    /// The faults of requests and connections.
    var faults: MockServer.FaultPlan {
        MockServer.FaultPlan { occasion in
            guard let request = occasion.request else {
                return contains(.offline) ? [MockServer.Fault(.reset, at: .connect)] : []
            }
            var faults: [MockServer.Fault] = []
            if contains(.slow) { faults.append(MockServer.Fault(.delay(.milliseconds(1500)), at: .responseHead)) }
            if contains(.flaky), (request.connectionIndex + request.exchangeIndex) % 3 == 0 {
                faults.append(MockServer.Fault(.reset, at: .responseHead))
            }
            return faults
        }
    }

    /// The rate at which attachments are sent: a few seconds for each, or about half a minute.
    var throttle: MockResponse.Throttle {
        contains(.slow)
            ? MockResponse.Throttle(bytes: 16 << 10, pause: .milliseconds(150))
            : MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(50))
    }

    /// The pause after each piece of a body that the server reads.
    var readingPause: Duration { contains(.slow) ? .milliseconds(100) : .milliseconds(4) }
}
