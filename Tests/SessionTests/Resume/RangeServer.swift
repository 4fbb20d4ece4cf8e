import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Synchronization

/// Serves one entity, whole or in ranges, as a test wants it.
final class RangeServer: Sendable {
    /// The server's treatment of Range and If-Range.
    enum Habit: Sendable {
        case followsTheRules, ignoresRange, ignoresIfRange
        /// Answers a request for a range with this.
        case answers(MockResponse)
    }

    struct State: Sendable {
        var bytes: Data
        var fields: HTTPFields = [.eTag: "\"v1\"", .acceptRanges: "bytes"]
        var habit = Habit.followsTheRules
        /// Whether responses declare the length of the entity.
        var declaresLength = true
        /// The fault after this number of bytes of a response's body.
        var fault: (effect: MockServer.Fault.Effect, after: Int)?
    }

    private let state: Mutex<State>

    init(_ bytes: Data) {
        state = Mutex(State(bytes: bytes))
    }

    func change(_ body: @Sendable (inout State) -> Void) {
        state.withLock { body(&$0) }
    }

    func respond(to request: RecordedRequest) -> MockResponse {
        let state = state.withLock { $0 }
        var response = whole(state)
        if let range = request.headerFields[.range] {
            switch state.habit {
            case .ignoresRange: break
            case .answers(let answer): return answer
            case .ignoresIfRange: response = part(range, state)
            case .followsTheRules:
                let wanted = request.headerFields[.ifRange]
                let current = [state.fields[.eTag], state.fields[.lastModified]]
                if wanted == nil || current.contains(wanted) { response = part(range, state) }
            }
        }
        guard let (effect, after) = state.fault else { return response }
        return response.with(MockServer.Fault(effect, at: .responseBody(after: after)))
    }

    private func whole(_ state: State) -> MockResponse {
        guard !state.declaresLength else { return MockResponse(headerFields: state.fields, body: .bytes(state.bytes)) }
        let size = 250_000
        let pieces = stride(from: 0, to: state.bytes.count, by: size).map { state.bytes.dropFirst($0).prefix(size) }
        return MockResponse(headerFields: state.fields, body: .chunks(pieces))
    }

    private func part(_ range: String, _ state: State) -> MockResponse {
        let first = Int(range.dropFirst("bytes=".count).dropLast()) ?? -1
        var fields = state.fields
        guard 0..<state.bytes.count ~= first else {
            fields[.contentRange] = "bytes */\(state.bytes.count)"
            return MockResponse(status: .rangeNotSatisfiable, headerFields: fields)
        }
        let total = state.declaresLength ? "\(state.bytes.count)" : "*"
        fields[.contentRange] = "bytes \(first)-\(state.bytes.count - 1)/\(total)"
        return MockResponse(
            status: .partialContent, headerFields: fields, body: .bytes(state.bytes.dropFirst(first)))
    }
}
