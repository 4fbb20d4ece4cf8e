internal import Glibc

/// A request to list all links, or a family's addresses or routes.
struct NetlinkRequest: Hashable, Sendable {
    /// What is asked for, in words.
    var subject: String
    var type: UInt16
    var family: UInt8
    /// The length of the structure that follows the header, of which only the family is set.
    var bodyLength: Int

    /// Everything a `NetworkState` is made of, in an order in which what a thing refers to comes before it.
    static let all: [NetlinkRequest] =
        [NetlinkRequest(subject: "links", type: NetlinkType.getLink, family: UInt8(AF_UNSPEC), bodyLength: 16)]
        + NetworkFamily.allCases.map {
            NetlinkRequest(subject: "addresses", type: NetlinkType.getAddress, family: $0.number, bodyLength: 8)
        }
        + NetworkFamily.allCases.map {
            NetlinkRequest(subject: "routes", type: NetlinkType.getRoute, family: $0.number, bodyLength: 12)
        }

    func encoded(sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        append(UInt32(NetlinkHeader.length + bodyLength))
        append(type)
        append(NetlinkHeader.request | NetlinkHeader.dump)
        append(sequence)
        append(UInt32(0))
        bytes.append(family)
        bytes.append(contentsOf: repeatElement(0, count: bodyLength - 1))
        return bytes
    }
}
