internal import COpenSSL
internal import FoundationEssentials

extension X509Handle {
    enum Validity {
        case notYet
        case valid
        case over
    }

    /// Whether it is valid at a moment: from the first second to the last, both included (RFC 5280, 4.1.2.5).
    func validity(at time: Date) -> Validity {
        guard let seconds = Int(exactly: time.timeIntervalSince1970.rounded(.down)) else { return .over }
        return validity(at: seconds)
    }

    /// The same, in seconds from 1970.
    func validity(at seconds: Int) -> Validity {
        guard let facts, let begin = facts.notBefore.seconds, let end = facts.notAfter.seconds else {
            return openSSLValidity(at: seconds)
        }
        return seconds < begin ? .notYet : seconds > end ? .over : .valid
    }

    /// Of times that OpenSSL alone can read, as some anchors have.
    private func openSSLValidity(at seconds: Int) -> Validity {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard var moment = time_t(exactly: seconds) else { return .over }
        // Nothing is equal to a moment: what is the same counts as earlier. 0 is a time that cannot be read.
        guard X509_cmp_time(X509_get0_notBefore(pointer), &moment) < 0 else { return .notYet }
        guard var before = time_t(exactly: seconds - 1) else { return .over }
        return X509_cmp_time(X509_get0_notAfter(pointer), &before) > 0 ? .valid : .over
    }
}
