// Modules: Serialization
// Sources: Modules/Authentication/Challenges/AuthenticationChallenge.swift Modules/Authentication/Challenges/AuthenticationChallengeParser.swift
import FoundationEssentials

/// Parses the input as WWW-Authenticate fields, one per line. A parsed challenge that is written with quotes parses to
/// the same challenge.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChallenge(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for challenge in AuthenticationChallenge.parse(text.split(separator: "\n").prefix(16).map(String.init)) {
        guard AuthenticationChallenge.parse([written(challenge)]) == [challenge] else {
            fatalError("\(challenge) does not parse to itself.")
        }
        _ = challenge.realm
    }
    return 0
}

private func written(_ challenge: AuthenticationChallenge) -> String {
    if let token = challenge.token68 { return "\(challenge.scheme) \(token)" }
    let parameters = challenge.parameters.map { name, value in
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(name)=\"\(escaped)\""
    }
    return ([challenge.scheme] + [parameters.joined(separator: ", ")]).filter { !$0.isEmpty }.joined(separator: " ")
}
