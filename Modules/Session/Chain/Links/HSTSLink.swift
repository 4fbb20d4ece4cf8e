internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport

/// Changes http to https for known hosts, and stores the hosts of responses (RFC 6797, sections 8.1 and 8.3).
struct HSTSLink: ChainLink {
    let store: HSTSStore

    func send(_ flight: inout Flight) -> ChainStep {
        guard flight.request.url.scheme != "https" else { return .proceed }
        let url = store.upgrading(flight.request.url)
        guard url != flight.request.url else { return .proceed }
        var request = flight.request
        request.url = url
        return .change(to: request)
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        // A response of the cache has the field of the response that confirmed it, or none.
        if response.attempts.last?.isTrustVerified == true {
            store.store(
                strictTransportSecurity: response.head.headerFields[values: .strictTransportSecurity], of: response.url)
        }
        return .proceed
    }
}
