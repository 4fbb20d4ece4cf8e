internal import FoundationEssentials
internal import Synchronization

/// The chains that were verified last up to the anchors of one store, each with what it was asked.
///
/// Whether signatures, names and purposes of the same certificates hold has the same answer each time; only their validity
/// depends on the moment, and is looked at anew. What else a policy asks of a chain — its profile's rules, revocation, pins —
/// is asked each time. A chain that was refused is not kept.
final class VerifiedChains: Sendable {
    /// All that the answer depends on, but for the store and the time. Handles stand for their certificates' bytes.
    struct Question: Hashable {
        let presented: [X509Handle]
        /// Nil where the name is not looked at.
        let host: String?
        let securityLevel: Int32
        let depth: Int32
        let flags: UInt
        /// Of a profile that refuses OpenSSL's path, and accepts another one; nil for OpenSSL's.
        var standards: ChainProfile.Standards?
    }

    private struct Answer {
        let chain: [X509Handle]
        /// In seconds from 1970.
        let validity: ClosedRange<Int>
        let verified: ContinuousClock.Instant
    }

    private struct Contents {
        var answers: [Question: Answer] = [:]
        /// Oldest first.
        var order: [Question] = []
    }

    static let capacity = 128
    /// After this OpenSSL is asked again: of several ways to an anchor another may be the best by then.
    static let longestMemory = Duration.seconds(30 * 60)

    private let contents = Mutex(Contents())
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// How many answers there are.
    var count: Int { contents.withLock { $0.answers.count } }

    /// The chain from the leaf to the anchor, if it is known to hold at this moment.
    func chain(_ question: Question, at time: Int) -> [X509Handle]? {
        guard let answer = contents.withLock({ $0.answers[question] }), answer.validity.contains(time),
            now() - answer.verified < Self.longestMemory
        else { return nil }
        return answer.chain
    }

    func remember(_ chain: [X509Handle], for question: Question) {
        // Of larger certificates there is a new handle each time, and of times that only OpenSSL can read no end is known.
        guard question.presented.allSatisfy({ $0.der.count <= CertificateCache.largestCertificate }),
            let validity = Self.validity(of: chain)
        else { return }
        let answer = Answer(chain: chain, validity: validity, verified: now())
        contents.withLock { contents in
            guard contents.answers.updateValue(answer, forKey: question) == nil else { return }
            contents.order.append(question)
            guard contents.order.count > Self.capacity else { return }
            contents.answers[contents.order.removeFirst()] = nil
        }
    }

    /// When all certificates are valid: from the first second to the last, both included (RFC 5280, 4.1.2.5).
    private static func validity(of chain: [X509Handle]) -> ClosedRange<Int>? {
        var (begin, end) = (Int.min, Int.max)
        for certificate in chain {
            guard let facts = certificate.facts, let notBefore = facts.notBefore.seconds,
                let notAfter = facts.notAfter.seconds
            else { return nil }
            begin = max(begin, notBefore)
            end = min(end, notAfter)
        }
        return begin <= end ? begin...end : nil
    }
}

extension X509Handle: Hashable {
    static func == (left: X509Handle, right: X509Handle) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(Swift.ObjectIdentifier(self)) }
}
