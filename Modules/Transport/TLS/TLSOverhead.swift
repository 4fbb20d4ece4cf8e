/// Counts the received bytes of TLS that carry no application data: handshake messages, session tickets, key updates,
/// empty records, requests to renegotiate. Each costs the client more than the server, which can send them without end.
/// Pure.
///
/// A handshake needs less than half of the limit: OpenSSL accepts chains and lists of authorities of up to 100 KiB
/// each. Application data pays for the data around it: a record adds about 30 bytes to its content.
struct TLSOverhead {
    /// The number of bytes that a server may send in a row without application data.
    static let most = 512 * 1024
    /// The number of bytes for which a byte of application data pays.
    private static let paid = 64

    private var bytes = 0

    var isExcessive: Bool { bytes > Self.most }

    /// Counts received bytes. Called before they are decrypted.
    mutating func received(_ count: Int) {
        bytes += count
    }

    /// Takes account of decrypted application data.
    mutating func delivered(_ count: Int) {
        bytes = max(0, bytes - Self.paid * count)
    }
}
