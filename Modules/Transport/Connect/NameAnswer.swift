internal import NIOCore

/// What was found out about a name.
enum NameAnswer: Sendable {
    /// Its addresses, with no port, in the order in which they are to be tried.
    case addresses([SocketAddress])
    /// It has none, for certain.
    case unknown(TransportError)
    /// Nobody could tell.
    case failed(TransportError)

    /// The addresses of one family, with a port.
    func addresses(_ family: NIOBSDSocket.ProtocolFamily, port: Int) -> Result<[SocketAddress], any Error> {
        switch self {
        case .addresses(let addresses):
            return .success(
                addresses.filter { $0.protocol == family }.map { address in
                    var address = address
                    address.port = port
                    return address
                })
        case .unknown(let error), .failed(let error):
            return .failure(error)
        }
    }
}
