import COpenSSL
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Synchronization

/// A server's side of Digest (RFC 7616), written from the formulas of its section 3.4 and with its own hash function,
/// for the user `ada` with the password `pass` in the realm `lab`.
final class DigestServer: Sendable {
    struct Settings: Sendable {
        /// The name of the algorithm in the challenge, and OpenSSL's.
        var algorithm = "SHA-256"
        var hash = "SHA256"
        var qop = "auth"
        /// Further parameters of the challenge, with the comma before them.
        var more = ""
        /// Further challenges, each with the comma after it.
        var before = ""
        /// The number of answers to a nonce, and whether the server then calls it stale.
        var answersPerNonce = Int.max
        var saysStale = true
        /// Whether the answers of a nonce must arrive in the order of their counts, as at squid.
        var wantsOrder = false
        var proves = true
        /// Whether responses have the next nonce.
        var givesNextNonce = false
    }

    private struct State {
        var nonces: [String: Int] = [:]
        var used: Set<String> = []
        var made = 0
        var replays = 0
        var accepted = 0
        var challenges = 0
    }

    let settings: Settings
    private let state = Mutex(State())

    init(_ settings: Settings = Settings()) { self.settings = settings }

    /// The number of requests with a nonce and a count that another request had.
    var replays: Int { state.withLock { $0.replays } }
    /// The number of requests that were let in.
    var accepted: Int { state.withLock { $0.accepted } }
    /// The number of requests that were answered with a challenge.
    var challenges: Int { state.withLock { $0.challenges } }

    func respond(_ request: RecordedRequest) -> MockResponse {
        guard let value = request.headerFields[.authorization], value.hasPrefix("Digest ") else { return challenge() }
        var parameters: [String: String] = [:]
        for part in value.dropFirst("Digest ".count).split(separator: ", ") {
            guard let equals = part.firstIndex(of: "=") else { return .status(.badRequest) }
            let text = part[part.index(after: equals)...]
            parameters[String(part[..<equals])] = String(text.hasPrefix("\"") ? text.dropFirst().dropLast() : text)
        }
        func of(_ name: String) -> String { parameters[name] ?? "" }
        guard of("realm") == "lab", of("uri") == request.target, of("algorithm") == settings.algorithm,
            of("qop") == settings.qop, of("response") == response(request, of)
        else { return challenge() }
        let isKnown = state.withLock { state -> Bool in
            guard let answers = state.nonces[of("nonce")], answers < settings.answersPerNonce else { return false }
            if settings.wantsOrder {
                let count = Int(of("nc"), radix: 16) ?? 0
                guard count > answers else {
                    state.nonces[of("nonce")] = nil
                    return false
                }
                state.nonces[of("nonce")] = count
            } else {
                state.nonces[of("nonce")] = answers + 1
            }
            if !state.used.insert(of("nonce") + of("nc")).inserted { state.replays += 1 }
            state.accepted += 1
            return true
        }
        guard isKnown else { return challenge(isStale: settings.saysStale) }
        var response = MockResponse.json("1")
        response.headerFields[.authenticationInfo] = info(of)
        return response
    }

    private func response(_ request: RecordedRequest, _ of: (String) -> String) -> String {
        var a2 = request.method.rawValue + ":" + request.target
        if settings.qop == "auth-int" { a2 += ":" + hash(String(decoding: request.body, as: UTF8.self)) }
        return hash("\(a1(of)):\(of("nonce")):\(of("nc")):\(of("cnonce")):\(settings.qop):\(hash(a2))")
    }

    private func a1(_ of: (String) -> String) -> String {
        let a1 = hash("ada:lab:pass")
        return settings.algorithm.hasSuffix("-sess") ? hash("\(a1):\(of("nonce")):\(of("cnonce"))") : a1
    }

    private func info(_ of: (String) -> String) -> String {
        var proof = hash(
            "\(a1(of)):\(of("nonce")):\(of("nc")):\(of("cnonce")):\(settings.qop):\(hash(":" + of("uri")))")
        if !settings.proves { proof = String(proof.reversed()) }
        let next = settings.givesNextNonce ? ", nextnonce=\"\(makeNonce())\"" : ""
        return "rspauth=\"\(proof)\", qop=\(settings.qop), nc=\(of("nc")), cnonce=\"\(of("cnonce"))\"" + next
    }

    private func challenge(isStale: Bool = false) -> MockResponse {
        state.withLock { $0.challenges += 1 }
        let value =
            settings.before + "Digest realm=\"lab\", nonce=\"\(makeNonce())\", algorithm=\(settings.algorithm), "
            + "qop=\"\(settings.qop)\"" + settings.more + (isStale ? ", stale=true" : "")
        return MockResponse(status: .unauthorized, headerFields: [.wwwAuthenticate: value])
    }

    private func makeNonce() -> String {
        state.withLock { state in
            state.made += 1
            let nonce = "nonce\(state.made)"
            state.nonces[nonce] = 0
            return nonce
        }
    }

    private func hash(_ text: String) -> String {
        var digest = [UInt8](repeating: 0, count: 64)
        var count = 0
        let bytes = Array(text.utf8)
        guard EVP_Q_digest(nil, settings.hash, nil, bytes, bytes.count, &digest, &count) == 1 else { return "" }
        return digest.prefix(count).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
