/// Whom a certificate must be for: the host as RFC 9525 wants it compared.
///
/// Made only of what can be compared. OpenSSL takes an empty name for "do not look at the name", and one that begins
/// with a dot for "any subdomain".
enum HostIdentity {
    case name(String)
    case address([UInt8])

    init?(_ host: String) {
        let name = HostPattern.normalized(host)
        if let address = HostPattern.address(name) {
            self = .address(address)
        } else if HostPattern.isName(name) {
            self = .name(name)
        } else {
            return nil
        }
    }
}
