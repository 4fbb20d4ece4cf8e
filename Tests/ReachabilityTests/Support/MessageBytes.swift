/// Builds netlink messages as the kernel lays them out.
struct MessageBytes {
    private(set) var bytes: [UInt8] = []

    static func + (one: MessageBytes, other: MessageBytes) -> MessageBytes {
        MessageBytes(bytes: one.bytes + other.bytes)
    }

    static func message(type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, body: [UInt8]) -> MessageBytes {
        MessageBytes(
            bytes: raw(UInt32(16 + body.count)) + raw(type) + raw(flags) + raw(sequence) + raw(UInt32(0)) + padded(body)
        )
    }

    static func link(
        _ index: Int32, type: UInt16 = 16, family: UInt8 = 0, hardwareType: UInt16 = 1, flags: UInt32 = 0x41,
        attributes: [[UInt8]] = [], sequence: UInt32 = 0
    ) -> MessageBytes {
        let head = [family, 0] + raw(hardwareType) + raw(index) + raw(flags) + raw(UInt32(0))
        return message(type: type, sequence: sequence, body: head + attributes.flatMap { $0 })
    }

    static func address(
        _ index: Int32, type: UInt16 = 20, family: UInt8 = 2, flags: UInt8 = 0, scope: UInt8 = 0,
        attributes: [[UInt8]] = []
    ) -> MessageBytes {
        message(type: type, body: [family, 24, flags, scope] + raw(index) + attributes.flatMap { $0 })
    }

    static func route(
        type: UInt16 = 24, family: UInt8 = 2, prefixLength: UInt8 = 0, sourceLength: UInt8 = 0, table: UInt8 = 254,
        routeType: UInt8 = 1, flags: UInt32 = 0, attributes: [[UInt8]] = []
    ) -> MessageBytes {
        let head = [family, prefixLength, sourceLength, 0, table, 3, 0, routeType] + raw(flags)
        return message(type: type, body: head + attributes.flatMap { $0 })
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded(raw(UInt16(4 + value.count)) + raw(type) + value)
    }

    static func hop(_ interface: Int32, flags: UInt8 = 0, attributes: [UInt8] = []) -> [UInt8] {
        padded(raw(UInt16(8 + attributes.count)) + [flags, 0] + raw(interface) + attributes)
    }

    static func raw(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    static func text(_ value: String) -> [UInt8] { Array(value.utf8) + [0] }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
