public import FoundationEssentials

/// A handle on a request whose response ends up in memory, read into a value.
public typealias DataTask<Value: Sendable> = TransferTask<Value>

/// A handle on a request with a body: bytes, a file, a stream, a multipart form.
public typealias UploadTask<Value: Sendable> = TransferTask<Value>

/// A handle on a request whose response becomes a file; its response's value is where the file is.
public typealias DownloadTask = TransferTask<URL>

/// A handle on a request whose response is read as it comes, from ``TransferTask/response``.
public typealias StreamTask = TransferTask<Void>
