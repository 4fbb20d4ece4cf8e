/// Signs the request. No link below changes it, and the links above never see the signature, which is for one sending.
struct SigningLink: ChainLink {
    let signer: RequestSigner

    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        if case .signed(let request) = flight.takeAnswer() { return .change(to: request) }
        let target = try flight.target()
        guard signer.origins.contains(target.origin) else { return .proceed }
        return .ask(.signature(signer, RequestSigner.Request(flight.request, target)))
    }
}
