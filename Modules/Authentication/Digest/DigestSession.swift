internal import LinnetMessages
internal import Synchronization

/// Answers one challenge for any number of concurrent requests: each answer has a nonce count of its own (RFC 7616,
/// section 3.4).
package final class DigestSession: Sendable {
    let challenge: DigestChallenge
    /// The value of the username or username* parameter, with its name.
    private let userName: String
    let makeClientNonce: @Sendable () -> String
    private let state: Mutex<DigestStateMachine>
    private let uses = Mutex(Uses())

    private struct Uses {
        var count = 0
        var hasBeenShared = false
    }

    init(
        _ challenge: DigestChallenge, username: String, password: String,
        makeClientNonce: @escaping @Sendable () -> String = DigestSession.randomNonce
    ) {
        self.challenge = challenge
        self.makeClientNonce = makeClientNonce
        // The name and the password are always UTF-8, whatever the charset of the realm.
        let (user, password) = (String(isoLatin1: username.utf8), String(isoLatin1: password.utf8))
        let hash = challenge.algorithm.hash("\(user):\(challenge.realm):\(password)")
        state = Mutex(DigestStateMachine(challenge, passwordHash: hash))
        userName =
            if challenge.hashesUserName {
                "username=\"\(challenge.algorithm.hash("\(user):\(challenge.realm)"))\""
            } else if challenge.namesUTF8, !username.utf8.allSatisfy({ $0 < 0x80 }) {
                "username*=\(username.extendedValue)"
            } else {
                "username=\(user.quoted)"
            }
    }

    /// Returns the field value for one request in ISO 8859-1, and the computation that verifies its response.
    func answer(method: String, uri: String, bodyHash: String?) -> (value: String, computation: DigestComputation) {
        let clientNonce = makeClientNonce()
        let computation = state.withLock { $0.next(uri: uri, clientNonce: clientNonce) }
        var parameters = [
            userName, "realm=\(challenge.realm.quoted)", "nonce=\(computation.nonce.quoted)", "uri=\(uri.quoted)",
            "response=\"\(computation.response(method: method, bodyHash: bodyHash))\"",
        ]
        // The algorithm, qop and nc must not be quoted (RFC 7616, section 3.4).
        if let name = challenge.algorithmName { parameters.append("algorithm=\(name)") }
        if computation.protection != .legacy {
            parameters.append("qop=\(computation.protection.rawValue)")
            parameters += ["nc=\(computation.count)", "cnonce=\(computation.clientNonce.quoted)"]
        }
        if let opaque = challenge.opaque { parameters.append("opaque=\(opaque.quoted)") }
        if challenge.hashesUserName { parameters.append("userhash=true") }
        return ("Digest " + parameters.joined(separator: ", "), computation)
    }

    /// Uses another nonce for all further answers (RFC 7616, section 3.5).
    func use(nextNonce: String, after computation: DigestComputation) {
        state.withLock { $0.use(nextNonce: nextNonce, after: computation.nonce) }
    }

    /// Begins the use of the nonce by a request.
    func beginUse() -> DigestUse {
        uses.withLock { uses in
            uses.count += 1
            uses.hasBeenShared = uses.hasBeenShared || uses.count > 1
        }
        return DigestUse(of: self)
    }

    /// Begins the use of the nonce by a request, unless another one uses it.
    func beginUseAlone() -> DigestUse? {
        let isFree = uses.withLock { uses in
            guard uses.count == 0 else { return false }
            uses.count = 1
            return true
        }
        return isFree ? DigestUse(of: self) : nil
    }

    /// Whether several requests have used the nonce at once.
    var hasBeenShared: Bool { uses.withLock { $0.hasBeenShared } }

    fileprivate func endUse() { uses.withLock { $0.count -= 1 } }

    /// 128 bits of the system's random numbers.
    package static func randomNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}

/// The use of a session's nonce by one request, from its answer to the server's response. Releasing the object ends it.
final class DigestUse: Sendable {
    let session: DigestSession

    fileprivate init(of session: DigestSession) { self.session = session }

    deinit { session.endUse() }
}

/// The nonce of a challenge and the number of its answers.
struct DigestStateMachine {
    private let challenge: DigestChallenge
    private let passwordHash: String
    private var nonce: String
    private var count: UInt32 = 0
    /// The client nonce of the first answer and its H(A1), which stay until the next challenge (section 3.4.2).
    private var session: (clientNonce: String, secret: String)?

    init(_ challenge: DigestChallenge, passwordHash: String) {
        (self.challenge, self.passwordHash, nonce) = (challenge, passwordHash, challenge.nonce)
    }

    /// Counts an answer.
    mutating func next(uri: String, clientNonce: String) -> DigestComputation {
        count &+= 1
        var (clientNonce, secret) = (clientNonce, passwordHash)
        if challenge.isSession {
            let known =
                session ?? (
                    clientNonce, challenge.algorithm.hash("\(passwordHash):\(challenge.nonce):\(clientNonce)")
                )
            session = known
            // Many servers compute A1 with the client nonce of the request instead of the first one, so it stays the
            // same.
            (clientNonce, secret) = known
        }
        let digits = String(count, radix: 16)
        return DigestComputation(
            algorithm: challenge.algorithm, protection: challenge.protection, secret: secret, nonce: nonce,
            count: String(repeating: "0", count: 8 - digits.utf8.count) + digits, clientNonce: clientNonce, uri: uri)
    }

    /// Changes the nonce, unless another response has changed it meanwhile.
    mutating func use(nextNonce: String, after old: String) {
        guard nonce == old, nextNonce != old else { return }
        (nonce, count) = (nextNonce, 0)
    }
}

extension String {
    /// The text as a quoted string (RFC 9110, section 5.6.4).
    fileprivate var quoted: String {
        var bytes = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    /// The text as an extended value in UTF-8 (RFC 8187, section 3.2.1).
    fileprivate var extendedValue: String {
        "UTF-8''"
            + PercentCoding.encoded(utf8) { ASCII.isAlphanumeric($0) || "!#$&+-.^_`|~".utf8.contains($0) }
    }
}
