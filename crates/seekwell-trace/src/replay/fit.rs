//! Placing recorded requests on a target of another size.

/// What to do with a trace of a larger disk than the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Refuse it.
    Fail,
    /// Wrap addresses around: distances inside each lap stay as they were.
    Modulo,
    /// Shrink or stretch addresses evenly: order stays as it was, distances change.
    Scale,
}

impl Fit {
    /// Its word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Modulo => "modulo",
            Self::Scale => "scale",
        }
    }
}

/// A trace that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FitError {
    /// Requests lie beyond the target's end.
    #[error("the trace reaches to byte {trace_bytes}, the target holds {target_bytes}")]
    TooLarge {
        /// First byte after the trace's highest request.
        trace_bytes: u64,
        target_bytes: u64,
    },
    #[error("a request of {longest_bytes} bytes is longer than the target of {target_bytes}")]
    Tiny { longest_bytes: u32, target_bytes: u64 },
}

/// Where recorded requests go on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placing {
    fit: Fit,
    block: u64,
    target_bytes: u64,
    trace_bytes: u64,
}

/// Where one request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// First byte on the target.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Its address or length is another than recorded.
    pub altered: bool,
}

impl Placing {
    /// For requests that end below `trace_bytes`, on a target of `target_bytes` in blocks of
    /// `block_bytes`.
    ///
    /// # Errors
    /// [`FitError`] when it does not fit and `fit` does not say how to make it.
    pub fn new(
        fit: Fit,
        block_bytes: u32,
        trace_bytes: u64,
        longest_bytes: u32,
        target_bytes: u64,
    ) -> Result<Self, FitError> {
        let block = u64::from(block_bytes.max(1));
        let target_bytes = target_bytes / block * block;
        if fit == Fit::Fail && trace_bytes > target_bytes {
            return Err(FitError::TooLarge { trace_bytes, target_bytes });
        }
        if u64::from(longest_bytes).next_multiple_of(block) > target_bytes {
            return Err(FitError::Tiny { longest_bytes, target_bytes });
        }
        Ok(Self { fit, block, target_bytes, trace_bytes: trace_bytes.max(1) })
    }

    /// Places one request, aligned to whole blocks.
    pub fn place(&self, offset: u64, len: u32) -> Placed {
        let moved = match self.fit {
            Fit::Fail => offset,
            Fit::Modulo => offset % self.target_bytes,
            Fit::Scale => {
                let wide = u128::from(offset) * u128::from(self.target_bytes);
                (wide / u128::from(self.trace_bytes)) as u64
            }
        };
        let start = moved / self.block * self.block;
        let whole = (moved - start + u64::from(len)).next_multiple_of(self.block);
        let whole = whole.max(self.block).min(self.target_bytes);
        let start = start.min(self.target_bytes - whole);
        let len_now =
            u32::try_from(whole).unwrap_or(u32::MAX / self.block as u32 * self.block as u32);
        Placed { offset: start, len: len_now, altered: start != offset || len_now != len }
    }
}
