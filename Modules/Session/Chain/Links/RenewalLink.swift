internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// Adds a credential that is renewed, and sends refused requests again. The links above never see the credential.
struct RenewalLink: ChainLink {
    /// The notes about a request with the credential.
    struct Note: Sendable {
        /// The version of the credential that was sent.
        let version: UInt64
        /// Whether it is the result of a renewal that the request has waited for. A server that refuses such a
        /// credential refuses the request.
        let isRenewed: Bool
    }

    let source: any RenewableCredentialSource

    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        if case .renewed? = flight.answer { return try authorize(&flight) }
        flight.renewal = nil
        let target = try flight.target()
        guard source.covers(target.origin), target.userInfo == nil,
            !flight.request.headerFields.contains(.authorization)
        else { return .proceed }
        return try authorize(&flight)
    }

    /// The credential was refused, and the response has been read, so that its connection can serve the renewal.
    func sendAgain(_ flight: inout Flight) throws(SessionError) -> ChainStep { try authorize(&flight) }

    private func authorize(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        let isRenewed = flight.takeAnswer() != nil
        var request = flight.request
        let use: CredentialUse
        do {
            use = try source.authorize(&request, afterRenewal: isRenewed)
        } catch {
            throw SessionError(thrown: error, url: flight.request.url)
        }
        switch use {
        case .needsRenewal(let version): return .ask(.renewal(source, after: version))
        case .applied(let version):
            flight.renewal = Boxed(Note(version: version, isRenewed: isRenewed))
            return .change(to: request)
        }
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        guard let note = flight.renewal?.value, !note.isRenewed, source.isRefusal(response.head) else {
            return .proceed
        }
        source.refuse(note.version)
        return .again(flight.request, otherwise: .fail)
    }
}
