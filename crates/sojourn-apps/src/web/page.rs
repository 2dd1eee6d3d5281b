//! Contents of a web page: the sizes of its objects, server by server.
//!
//! Source: White 2012 3.2.3 (100 objects of 25 kB) and Appendix A (the list, and the log-normal
//! distribution it was drawn from).
//! Deviations: a drawn object has at least one byte, because an empty one would never arrive.

use crate::whole;
use crate::{ApplicationContext, Draw};
use sojourn_base::{Bytes, dist, math};
use sojourn_keys::{choices, origin, parameters, without_keys};

choices! {
    /// The objects of a page beside its index object.
    #[derive(Copy)]
    pub enum PageModel {
        /// 25 objects of 25,000 B on each of four servers (White 2012 §3.2.3)
        Equal(page: EqualPage = EqualPage::WHITE2012 => without_keys) = "white2012",
        /// the 100 files of White 2012 Appendix A on four servers, 614,402 B together
        Listed(page: ListedPage = ListedPage::WHITE2012_APPENDIX_A => without_keys) = "white2012-appendix-a",
        /// another draw from a distribution like that of Appendix A for each page
        Generated(page: GeneratedPage = GeneratedPage::BASE) = "generated",
    }
}

/// A page of equal objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualPage {
    /// Number of servers.
    pub servers: u32,
    /// Objects on each server.
    pub objects_per_server: u32,
    /// Size of each object.
    pub size: Bytes,
}

impl EqualPage {
    /// 25 objects of 25,000 B on each of four servers (White 2012 3.2.3; kB is 1000 B).
    pub const WHITE2012: Self = Self { servers: 4, objects_per_server: 25, size: Bytes(25_000) };
}

/// A page whose objects are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedPage {
    /// Number of servers.
    pub servers: u32,
    /// Objects on each server.
    pub objects_per_server: u32,
    /// `server,file,bytes`, one object a line, server by server, after a heading and the index object.
    pub list: &'static str,
}

impl ListedPage {
    /// The 100 files of White 2012 Appendix A, 25 on each of four servers, 614,402 B together.
    pub const WHITE2012_APPENDIX_A: Self =
        Self { servers: 4, objects_per_server: 25, list: include_str!("../../data/white2012-appendix-a.csv") };

    /// The sizes, server by server, without the index object.
    fn sizes(&self) -> Vec<u64> {
        self.list.lines().skip(2).filter_map(|line| line.rsplit(',').next()?.parse().ok()).collect()
    }
}

const ORIGIN: &str = "White 2012 Appendix A";

parameters! {
    /// A page of random objects: sizes are log-normal and then scaled to a given total, up to rounding.
    #[derive(Copy)]
    pub struct GeneratedPage {
        /// number of servers
        servers: u32 = 4, origin(ORIGIN).least("1").most("100");
        /// objects on each server
        objects_per_server: u32 = 25, origin(ORIGIN).least("1").most("10000");
        /// mean of the decimal logarithm of the unscaled size
        log10_mean: f64 = 3.34, origin(ORIGIN).least("0").most("9");
        /// standard deviation of the decimal logarithm of the size
        log10_sd: f64 = 0.84, origin(ORIGIN).least("0").most("3");
        /// sum of the sizes after scaling
        total: Bytes = Bytes(614_400), origin(ORIGIN).least("1 B").most("1000 GB");
    }
}

impl PageModel {
    /// Number of servers that hold objects.
    pub fn servers(&self) -> usize {
        match self {
            Self::Equal(page) => page.servers as usize,
            Self::Listed(page) => page.servers as usize,
            Self::Generated(page) => page.servers as usize,
        }
    }

    /// Bytes that the sizes of its objects take.
    pub(crate) fn bytes(&self) -> u64 {
        let objects = match self {
            Self::Equal(page) => u64::from(page.servers) * u64::from(page.objects_per_server),
            Self::Listed(page) => page.sizes().len() as u64,
            Self::Generated(page) => u64::from(page.servers) * u64::from(page.objects_per_server),
        };
        objects * size_of::<u64>() as u64
    }
}

/// The sizes of one page's objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageContents {
    per_server: usize,
    /// Sizes in the order of servers, then of objects.
    sizes: Vec<u64>,
}

impl PageContents {
    /// The page that is the same every time, or an empty one to be drawn.
    pub(crate) fn new(model: &PageModel) -> Self {
        match model {
            PageModel::Equal(page) => Self {
                per_server: page.objects_per_server as usize,
                sizes: vec![page.size.0; page.servers as usize * page.objects_per_server as usize],
            },
            PageModel::Listed(page) => Self { per_server: page.objects_per_server as usize, sizes: page.sizes() },
            PageModel::Generated(page) => Self {
                per_server: page.objects_per_server as usize,
                sizes: vec![0; page.servers as usize * page.objects_per_server as usize],
            },
        }
    }

    /// Draw the sizes anew if the model is a random one.
    pub(crate) fn draw(&mut self, model: &PageModel, context: &mut dyn ApplicationContext) {
        let PageModel::Generated(page) = model else {
            return;
        };
        // The sizes hold the bits of the draws until their sum is known.
        let mut sum = 0.0;
        for size in &mut self.sizes {
            if !context.work(1) {
                return;
            }
            let exponent = page.log10_mean + page.log10_sd * dist::standard_normal(context.unit(Draw::Size));
            let value = math::powf(10.0, exponent);
            *size = value.to_bits();
            sum += value;
        }
        let scale = page.total.0 as f64 / sum;
        for size in &mut self.sizes {
            *size = whole(scale * f64::from_bits(*size));
        }
    }

    /// Size of object `index` (from 0) of `server`, or `None` after the last one.
    pub(crate) fn size(&self, server: usize, index: usize) -> Option<u64> {
        if index >= self.per_server {
            return None;
        }
        self.sizes.get(server * self.per_server + index).copied()
    }

    /// Number of objects on all servers.
    pub(crate) fn objects(&self) -> usize {
        self.sizes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Desk;

    #[test]
    fn the_list_of_appendix_a_has_the_printed_sums() {
        // Sums per server and extremes, added up from the printed table.
        let page = PageContents::new(&PageModel::Listed(ListedPage::WHITE2012_APPENDIX_A));
        assert_eq!(page.objects(), 100);
        let sum = |server| -> u64 { (0..25).filter_map(|index| page.size(server, index)).sum() };
        assert_eq!([sum(0), sum(1), sum(2), sum(3)], [121_151, 60_683, 276_266, 156_302]);
        assert_eq!(page.sizes.iter().sum::<u64>(), 614_402);
        let mut sorted = page.sizes.clone();
        sorted.sort_unstable();
        assert_eq!((sorted[0], sorted[99]), (11, 147_107));
        assert_eq!(sorted[49] + sorted[50], 2 * 1135 + 1);
        assert_eq!(page.size(1, 0), Some(5009));
        assert_eq!(page.size(2, 24), Some(2278));
        assert_eq!(page.size(2, 25), None);
        assert_eq!(ListedPage::WHITE2012_APPENDIX_A.list.lines().nth(1), Some("1,index.html,102400"));
    }

    #[test]
    fn the_list_of_appendix_a_has_the_moments_of_its_sample() {
        let sizes = ListedPage::WHITE2012_APPENDIX_A.sizes();
        let logs: Vec<f64> = sizes.iter().map(|&size| math::ln(size as f64) / math::ln(10.0)).collect();
        let mean = logs.iter().sum::<f64>() / 100.0;
        let square = logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        assert!((mean - 3.0905).abs() < 5e-5, "{mean}");
        assert!((math::sqrt(square / 99.0) - 0.7892).abs() < 5e-5);
    }

    #[test]
    fn generated_pages_add_up_to_their_total_and_differ() {
        let model = PageModel::Generated(GeneratedPage::BASE);
        let mut page = PageContents::new(&model);
        let mut desk = Desk::new(1);
        let mut seen = Vec::new();
        for _ in 0..20 {
            page.draw(&model, &mut desk);
            let total: u64 = page.sizes.iter().sum();
            assert!(total.abs_diff(614_400) <= 50, "total {total}");
            assert!(page.sizes.iter().all(|&size| size > 0));
            assert!(!seen.contains(&page.sizes));
            seen.push(page.sizes.clone());
        }
    }
}
