internal import NIOCore

/// The way of a request from this socket to its peer: a deadline that has passed is extended while the peer
/// acknowledges more. Pure.
///
/// A socket accepts far more than a slow server has read, and nothing is written then that would show progress.
struct RequestDelivery {
    /// The number of acknowledged bytes of the connection with the last byte of the request.
    private let end: Int64
    private var acknowledged: Int64

    /// Begins with the bytes that the socket has accepted so far.
    init(_ delivery: SocketProbe.Delivery) {
        end = delivery.acknowledged + delivery.underWay
        acknowledged = delivery.acknowledged
    }

    /// Returns the new deadline after an idle time, measured from the last acknowledgement; nil if the peer has
    /// acknowledged nothing since the last call, or that is too long ago.
    mutating func deadline(_ delivery: SocketProbe.Delivery, idle: TimeAmount, now: NIODeadline) -> NIODeadline? {
        let before = acknowledged
        acknowledged = min(max(before, delivery.acknowledged), end)
        guard acknowledged > before, delivery.sinceLast < idle else { return nil }
        return now + (idle - delivery.sinceLast)
    }
}

extension HTTPExchange {
    /// Begins to watch the way of the request, unless that is done.
    func watchDelivery(_ probe: SocketProbe?) {
        guard delivery == nil else { return }
        delivery = probe?.delivery.map { RequestDelivery($0) }
    }

    /// Extends a passed deadline if the server has acknowledged more of the request. Returns false if it has not.
    func extendsDeadline(_ code: TransportError.Code, _ probe: SocketProbe?, now: NIODeadline) -> Bool {
        guard let idle = code == .writeTimeout ? timeouts.idleWrite : code == .readTimeout ? timeouts.idleRead : nil,
            let current = probe?.delivery,
            let due = delivery?.deadline(current, idle: TimeAmount(idle), now: now)
        else { return false }
        if code == .writeTimeout {
            deadlines.write = due
            // The socket has accepted more meanwhile.
            delivery = RequestDelivery(current)
        } else {
            deadlines.read = due
        }
        return true
    }
}
