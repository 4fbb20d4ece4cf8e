/// How a property list is written.
public struct PropertyListFormat: Sendable, Hashable, Codable {
    enum Kind: String, Sendable, Codable { case xml, binary }
    let kind: Kind

    /// XML, version 1.0.
    public static let xml = PropertyListFormat(kind: .xml)
    /// Binary, version 1.0: `bplist00`.
    public static let binary = PropertyListFormat(kind: .binary)
}
