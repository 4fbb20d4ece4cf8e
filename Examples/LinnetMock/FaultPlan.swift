import LinnetTesting

/// A fault of a file of routes: `{"effect": "reset", "at": "responseBody", "after": 100}`.
struct FaultPlan: Decodable {
    let fault: MockServer.Fault

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case effect, at, after
    }

    private static let effects: [String: MockServer.Fault.Effect] = [
        "close": .close, "garbage": .garbage, "goAway": .goAway(), "halfClose": .halfClose, "reset": .reset,
        "resetStream": .resetStream(), "stall": .stall, "truncate": .truncate,
    ]
    private static let triggers: [String: MockServer.Fault.Trigger] = [
        "requestHead": .requestHead, "responseHead": .responseHead, "responseEnd": .responseEnd,
    ]

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(knowing: CodingKeys.self)
        guard let effect = Self.effects[try values.decode(String.self, forKey: .effect)] else {
            throw values.fault(.effect, "The effects are \(Self.names(of: Self.effects)).")
        }
        let bytes = try values.decodeIfPresent(Int.self, forKey: .after)
        if let bytes, bytes < 0 { throw values.fault(.after, "A number of bytes is at least 0.") }
        switch try values.decode(String.self, forKey: .at) {
        case "requestBody": fault = MockServer.Fault(effect, at: .requestBody(after: bytes ?? 0))
        case "responseBody": fault = MockServer.Fault(effect, at: .responseBody(after: bytes ?? 0))
        case let name:
            guard let trigger = Self.triggers[name] else {
                throw values.fault(.at, "The places are requestBody, responseBody, \(Self.names(of: Self.triggers)).")
            }
            guard bytes == nil else { throw values.fault(.after, "Only a place in a body has a number of bytes.") }
            fault = MockServer.Fault(effect, at: trigger)
        }
    }

    private static func names<Value>(of values: [String: Value]) -> String {
        values.keys.sorted().joined(separator: ", ")
    }
}
